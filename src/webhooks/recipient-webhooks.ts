import { setMaxListeners } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Instant } from "../domain/message.ts";
import type { EventLog } from "../event-log/event-log.ts";
import { createActiveProcess } from "../event-log/following/active-process.ts";
import type { CheckpointStore } from "../event-log/following/checkpoint-store.ts";
import type { HeldCheckpoint } from "../event-log/following/hold-checkpoint.ts";
import type { LogGauge } from "../event-log/following/log-gauge.ts";
import { believedAfterMs, isOfLog, settledState } from "../event-log/following/settled-log.ts";
import { shareFollowing } from "../event-log/following/share-following.ts";
import { lastPlaceOf } from "../event-log/place.ts";
import { createFairSemaphore } from "../process/semaphore.ts";
import { type Calling, type CallPorts, longestOutageMs } from "./recipient-calls.ts";
import type { RecipientEndpoint, RecipientEndpoints } from "./recipient-endpoints.ts";
import { type Skipped, type StreamPorts, type StreamState, serveEndpoint } from "./recipient-stream.ts";
import { type StoredStream, storedStream, toStoredStream } from "./stored-stream.ts";

export type RecipientWebhooksPorts = Omit<CallPorts, "semaphore"> & {
  readonly log: EventLog;
  readonly gauge: Pick<LogGauge, "storedAfter">;
  readonly checkpoints: CheckpointStore;
  readonly endpoints: RecipientEndpoints;
  readonly skipped: (skipped: Skipped) => void;
  readonly report: (failure: unknown) => void;
};

export type RecipientWebhooks = {
  start(): void;
  /** Waits up to `graceMs` for the answers to the calls that are on their way. */
  stop(graceMs: number): Promise<void>;
};

export const recipientListener = "recipient-webhooks";

const lookEveryMs = 500;
const tryAgainMs = 3000;
/** Calls at a time, for all tenants together and for one. */
const atOnce = 64;
const atOnceOfTenant = 16;
/** A stream leaves a window at once that has moved on; each window is at most about 2 MB. */
const apart = { patienceMs: { atEnd: 1, behind: 1 }, keptEvents: 2000, reach: 0 };

/**
 * Sends the endpoints that ask for it what happens to each recipient, at least once and in order. Of all processes one does
 * so; how far each endpoint has been served stands in its checkpoint, which is written every second. While no endpoint asks,
 * nothing is read of the log.
 */
export const createRecipientWebhooks = (ports: RecipientWebhooksPorts): RecipientWebhooks =>
  createActiveProcess(ports.checkpoints, {
    name: recipientListener,
    act: (held, ending) => serveAll(ports, held, { isHeld: held.isHeld, ...ending, report: ports.report }),
    restMsAfter: () => tryAgainMs,
    report: ports.report,
  });

/** One stream for each endpoint, for as long as the endpoint asks. */
type Stream = {
  readonly endpoint: RecipientEndpoint;
  readonly state: StreamState;
  /** Ends it at once, with the call that is on its way. */
  drop(): void;
  readonly served: Promise<void>;
};

async function serveAll(ports: RecipientWebhooksPorts, held: HeldCheckpoint, calling: Calling): Promise<void> {
  const { log, endpoints, report } = ports;
  const { createdAt, known, stored } = await beginning(ports, held, calling.stopping);
  const streamPorts: StreamPorts = {
    ...ports,
    followed: shareFollowing(log, apart),
    semaphore: createFairSemaphore(atOnce, atOnceOfTenant),
  };
  const waiting = new Map(stored.map((one) => [nameOf(one), one]));
  const streams = new Map<string, Stream>();
  /** All endpoints that were created before the log had come so far are known. */
  let knownUpTo = known;
  held.track(() => ({
    sequence: knownUpTo,
    logCreatedAt: createdAt,
    unfinished: [
      ...[...streams.values()].map(({ endpoint, state }) => storedStream(endpoint, state)),
      ...[...waiting.values()].map((one) => one.text),
    ],
  }));
  const look = async (): Promise<void> => {
    const { lastSequence } = await log.state(calling.stopping);
    const { endpoints: asking, unreadable } = await endpoints.now();
    const names = new Set(asking.map(nameOf));
    for (const [name, { endpoint, drop }] of streams) {
      if (names.has(name) || unreadable.has(endpoint.tenant)) continue;
      drop();
      streams.delete(name);
    }
    for (const endpoint of asking) {
      const name = nameOf(endpoint);
      if (streams.has(name)) continue;
      const state = waiting.get(name)?.state ?? { place: lastPlaceOf(knownUpTo), outage: { lastedMs: 0 } };
      waiting.delete(name);
      streams.set(name, openStream(streamPorts, endpoint, state, calling));
    }
    for (const [name, { tenant }] of waiting) if (!unreadable.has(tenant)) waiting.delete(name);
    knownUpTo = Math.max(knownUpTo, lastSequence);
  };
  try {
    while (!calling.stopping.aborted) {
      await look().catch(report);
      await pause(lookEveryMs, undefined, { signal: calling.stopping }).catch(() => {});
    }
  } finally {
    await Promise.all([...streams.values()].map(({ served }) => served));
  }
}

const nameOf = ({ tenant, id }: Pick<RecipientEndpoint, "tenant" | "id">): string => `${tenant} ${id}`;

function openStream(ports: StreamPorts, endpoint: RecipientEndpoint, state: StreamState, calling: Calling): Stream {
  const dropped = new AbortController();
  const stopping = AbortSignal.any([dropped.signal, calling.stopping]);
  const givenUp = AbortSignal.any([dropped.signal, calling.givenUp]);
  setMaxListeners(0, stopping, givenUp);
  const served = serveEndpoint(ports, endpoint, state, { ...calling, stopping, givenUp });
  return { endpoint, state, drop: () => dropped.abort(), served };
}

/**
 * Without a checkpoint of this log every endpoint begins as if it had been away for as long as it may: what it has had comes
 * again, and nothing is lost that it would have got.
 */
async function beginning(
  { log, gauge }: Pick<RecipientWebhooksPorts, "log" | "gauge">,
  { found }: HeldCheckpoint,
  signal: AbortSignal,
) {
  const seen = found ?? { sequence: 0, logCreatedAt: null };
  const state = await settledState(log, seen, believedAfterMs, signal);
  const { createdAt, lastSequence } = state;
  if (found === null || !isOfLog(found, state)) {
    const since = new Date(Date.now() - longestOutageMs).toISOString();
    return { createdAt, known: await lastBefore(gauge, lastSequence, since), stored: [] };
  }
  const stored = (found.unfinished ?? []).map(toStoredStream).filter((one): one is StoredStream => one !== null);
  return { createdAt, known: found.sequence, stored };
}

/** The last sequence that was stored before an instant, of those up to `last`. */
async function lastBefore({ storedAfter }: Pick<LogGauge, "storedAfter">, last: number, at: Instant): Promise<number> {
  let [low, high] = [0, last];
  while (low < high) {
    const middle = (low + high) >> 1;
    const stored = await storedAfter(middle);
    if (stored === null || stored >= at) high = middle;
    else low = middle + 1;
  }
  return low;
}
