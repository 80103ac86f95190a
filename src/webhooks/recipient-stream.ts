import { setTimeout as pause } from "node:timers/promises";
import { type EventLog, type LogEvent, maxEventsOfEntry } from "../event-log/event-log.ts";
import { LogLostItsEnd, UndecodableEvent } from "../event-log/log-failures.ts";
import { lastPlaceOf, placeOf, positionOf } from "../event-log/place.ts";
import { type Calling, type CallPorts, callUntilTaken, type Outage } from "./recipient-calls.ts";
import type { RecipientEndpoint } from "./recipient-endpoints.ts";
import { messageTypeOf, type ToldEvent } from "./recipient-messages.ts";

/** How far one endpoint has been served. */
export type StreamState = {
  /** Of the last event that it was sent, or that was none of its messages. */
  place: number;
  readonly outage: Outage;
};

/** Messages that an endpoint was not sent: those after one place, up to another. */
export type Skipped = {
  readonly endpoint: RecipientEndpoint;
  readonly why: "refused" | "outage";
  readonly afterPlace: number;
  readonly upToPlace: number;
};

export type StreamPorts = CallPorts & {
  /** Shared by the streams, so that those at the same place read the log once. */
  readonly followed: EventLog;
  readonly skipped: (skipped: Skipped) => void;
};

const messagesOfCall = 100;
/** With the rest of the reader and the call itself, a message is sent within a second. */
const gatheredMs = 700;
const restMs = 50;
const maxEvents = 500;
const tryAgainMs = 1000;

/**
 * Sends one endpoint its messages, in the order of the log and one call after the other. The state advances only past what
 * the receiver has taken; while it takes nothing, the log is not read and nothing is kept but the messages of one call.
 */
export async function serveEndpoint(
  ports: StreamPorts,
  endpoint: RecipientEndpoint,
  state: StreamState,
  calling: Calling,
): Promise<void> {
  while (!calling.stopping.aborted) {
    try {
      // Whether it is gone for good is not for this reading to say, which a server may answer that lags behind.
      if ((await readAndSend(ports, endpoint, state, calling)) === "gone") await rest(calling);
    } catch (failure) {
      if (calling.stopping.aborted) return;
      calling.report(failure);
      if (failure instanceof LogLostItsEnd) state.place = Math.min(state.place, lastPlaceOf(failure.keptUpTo));
      else if (failure instanceof UndecodableEvent && !failure.isNewer) state.place = lastPlaceOf(failure.sequence);
      else await rest(calling);
    }
  }
}

const rest = ({ stopping }: Calling): Promise<void> =>
  pause(tryAgainMs, undefined, { signal: stopping }).catch(() => {});

/** Returns when the log is to be read anew: after a receiver that was slow or away, so that it holds up no other. */
async function readAndSend(
  ports: StreamPorts,
  endpoint: RecipientEndpoint,
  state: StreamState,
  calling: Calling,
): Promise<"again" | "gone"> {
  const reading = new AbortController();
  const signal = AbortSignal.any([reading.signal, calling.stopping]);
  const { sequence, index } = positionOf(state.place);
  const from = {
    afterSequence: Math.max(0, index === maxEventsOfEntry - 1 ? sequence : sequence - 1),
    maxEvents,
    signal,
    wantsFacts: () => true,
    restMs: () => restMs,
  };
  const isTheirs = selects(endpoint, state.place);
  let gathered: ToldEvent[] = [];
  const sendGathered = async (atLeast: number): Promise<"delivered" | "again" | "gone"> => {
    while (gathered.length >= atLeast) {
      const call = gathered.slice(0, messagesOfCall) as [ToldEvent, ...ToldEvent[]];
      const end = await send(ports, endpoint, call, state, calling, () => reading.abort());
      if (end !== "delivered") return end;
      gathered = gathered.slice(call.length);
    }
    return "delivered";
  };
  try {
    for await (const batch of withPauses(ports.followed.follow(from), () =>
      gathered.length > 0 ? gatheredMs : null,
    )) {
      if (batch !== null) for (const event of batch) if (isTheirs(event)) gathered.push(event);
      const end = await sendGathered(batch === null ? 1 : messagesOfCall);
      if (end !== "delivered") return end;
      const last = batch?.at(-1);
      if (last !== undefined && gathered.length === 0) state.place = lastPlaceOf(last.sequence);
      if (reading.signal.aborted || calling.stopping.aborted) break;
    }
    return "again";
  } catch (failure) {
    if (!(failure instanceof UndecodableEvent)) throw failure;
    // The caller moves the state past the entry, or waits for a newer release: what was read before it is sent first.
    const end = await sendGathered(1);
    if (end !== "delivered") return end;
    throw failure;
  } finally {
    reading.abort();
  }
}

/** While a call takes longer than usual the log is let go of. */
const slowMs = 2000;

async function send(
  ports: StreamPorts,
  endpoint: RecipientEndpoint,
  call: readonly [ToldEvent, ...ToldEvent[]],
  state: StreamState,
  calling: Calling,
  letGo: () => void,
): Promise<"delivered" | "again" | "gone"> {
  const timer = setTimeout(letGo, slowMs);
  const end = await callUntilTaken(ports, endpoint, call, state.outage, calling).finally(() => clearTimeout(timer));
  const before = state.place;
  switch (end) {
    case "delivered":
    case "refused":
      state.place = placeOf(call.at(-1) ?? call[0]);
      break;
    case "outage":
      state.place = lastPlaceOf((await ports.followed.state(calling.stopping)).lastSequence);
      state.outage.lastedMs = 0;
      break;
    case "gone":
      return "gone";
    case "stopped":
      return "again";
  }
  if (end === "delivered") return "delivered";
  ports.skipped({ endpoint, why: end, afterPlace: before, upToPlace: state.place });
  return "again";
}

function selects({ tenant, types, createdAt }: RecipientEndpoint, after: number) {
  const wanted = new Set<string | null>(types);
  return (event: LogEvent): event is ToldEvent =>
    event.tenant === tenant &&
    wanted.has(messageTypeOf(event)) &&
    placeOf(event) > after &&
    "event" in event &&
    event.event.at >= createdAt;
}

/**
 * The batches, and null each time that `afterMs` has passed since it first gave a number: what was gathered is due then,
 * however many batches came meanwhile.
 */
async function* withPauses<Batch>(
  batches: AsyncIterable<Batch>,
  afterMs: () => number | null,
): AsyncGenerator<Batch | null> {
  const source = batches[Symbol.asyncIterator]();
  const ask = (): Promise<IteratorResult<Batch>> => {
    const asked = source.next();
    // It may fail after the reader has left.
    asked.catch(() => {});
    return asked;
  };
  let next = ask();
  let dueAt: number | null = null;
  try {
    for (;;) {
      const waitMs = afterMs();
      dueAt = waitMs === null ? null : (dueAt ?? performance.now() + waitMs);
      const found = dueAt === null ? await next : await within(next, dueAt - performance.now());
      if (found?.done === true) return;
      if (found === null) dueAt = null;
      yield found?.value ?? null;
      if (found !== null) next = ask();
    }
  } finally {
    // Not awaited: it waits for what was asked, which ends with the signal of the reader.
    source.return?.().catch(() => {});
  }
}

async function within<Result>(promise: Promise<Result>, ms: number): Promise<Result | null> {
  if (ms <= 0) return null;
  const timer = new AbortController();
  try {
    return await Promise.race([promise, pause(ms, null, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
