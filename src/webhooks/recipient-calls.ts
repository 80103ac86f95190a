import { setTimeout as pause } from "node:timers/promises";
import { webhookDelayMs } from "../domain/webhooks/schedule.ts";
import type { FairSemaphore } from "../process/semaphore.ts";
import type { SafePost } from "../signed-post/safe-post.ts";
import { deliver, deliveryIdOf, type Verdict } from "../signed-post/signed-post.ts";
import type { People } from "./people.ts";
import type { RecipientEndpoint } from "./recipient-endpoints.ts";
import { type ToldEvent, toMessage } from "./recipient-messages.ts";
import { findEndpoint } from "./tenant-webhooks.ts";
import type { WebhookStore } from "./webhook-store.ts";

const hour = 3_600_000;

/** How long a receiver may take nothing before what it has missed is left out. */
export const longestOutageMs = 72 * hour;
/** How long one call is repeated while the receiver does nothing but refuse it: it may be the receiver that is wrong. */
const longestRefusalMs = hour;
/** A receiver that is back waits no longer: its messages come in order, and so all of them wait for the first. */
const longestDelayMs = hour / 6;
const afterFailureMs = 1000;

/** `gone`: the endpoint was deleted. `outage`: it took nothing for too long. `stopped`: the signal aborted. */
export type CallEnd = "delivered" | "refused" | "outage" | "gone" | "stopped";

export type CallPorts = {
  readonly store: Pick<WebhookStore, "read">;
  readonly people: People;
  readonly post: SafePost;
  readonly semaphore: FairSemaphore;
  /** By default as for other webhooks, but ten minutes at most. */
  readonly delayMs?: (attempt: number, askedMs: number | null) => number;
  readonly limits?: { readonly outageMs: number; readonly refusalMs: number };
};

export type Calling = {
  /** Before every call, also right after the process stood still: whether it is still this process that calls. */
  readonly isHeld: () => boolean;
  /** No further attempt; and no further waiting for the answer to this one. */
  readonly stopping: AbortSignal;
  readonly givenUp: AbortSignal;
  readonly report: (failure: unknown) => void;
};

/**
 * For how long the receiver has taken nothing: the time between calls that it did not take, one after the other in the same
 * process. Time in which no process called it, or NATS was away, is no fault of the receiver.
 */
export type Outage = { lastedMs: number };

/** Makes one call of some messages, and repeats it until the receiver has taken it or it is no longer worth a try. */
export async function callUntilTaken(
  ports: CallPorts,
  endpoint: RecipientEndpoint,
  events: readonly [ToldEvent, ...ToldEvent[]],
  outage: Outage,
  calling: Calling,
): Promise<CallEnd> {
  const { delayMs = usualDelayMs, limits = { outageMs: longestOutageMs, refusalMs: longestRefusalMs } } = ports;
  let attempts = 0;
  let failedAt: number | null = null;
  /** Of the first refusal of those in a row. */
  let refusedSince: number | null = null;
  for (;;) {
    const verdict = await attemptCall(ports, endpoint, events, calling);
    if (verdict === "gone" || verdict === "stopped") return verdict;
    if (verdict?.kind === "delivered") {
      outage.lastedMs = 0;
      return "delivered";
    }
    const now = performance.now();
    if (verdict !== null) {
      attempts += 1;
      outage.lastedMs += now - (failedAt ?? now);
      if (outage.lastedMs >= limits.outageMs) return "outage";
    }
    failedAt = verdict === null ? null : now;
    refusedSince = verdict?.kind === "never-again" ? (refusedSince ?? now) : null;
    if (refusedSince !== null && now - refusedSince >= limits.refusalMs) return "refused";
    const waitMs = verdict === null ? afterFailureMs : delayMs(attempts, verdict.retryAfterMs);
    await pause(waitMs, undefined, { signal: calling.stopping }).catch(() => {});
  }
}

const usualDelayMs = (attempt: number, askedMs: number | null): number =>
  Math.min(webhookDelayMs(attempt, askedMs, Math.random()) ?? longestDelayMs, longestDelayMs);

/** Null where NATS was away, which says nothing about the receiver. */
async function attemptCall(
  { store, people, post, semaphore }: CallPorts,
  { tenant, id }: RecipientEndpoint,
  events: readonly [ToldEvent, ...ToldEvent[]],
  { isHeld, stopping, givenUp, report }: Calling,
): Promise<Verdict | "gone" | "stopped" | null> {
  try {
    return await semaphore.run(tenant, async () => {
      if (stopping.aborted) return "stopped";
      const found = findEndpoint(await store.read(tenant), id);
      if (found === null) return "gone";
      const data = await Promise.all(
        events.map(async (event) => toMessage(event, await people.find(event, event.event.data.recipient))),
      );
      if (!isHeld() || stopping.aborted) return "stopped";
      const [first] = events;
      const last = events.at(-1) ?? first;
      const payload = { type: "recipient.batch", timestamp: last.event.at, data };
      const callId = deliveryIdOf(first, `${first.id}\n${last.id}\n${events.length}`, id);
      const verdict = await deliver(post, found, { id: callId, payload, traceparent: null }, givenUp);
      return givenUp.aborted && verdict.kind !== "delivered" ? "stopped" : verdict;
    });
  } catch (failure) {
    report(failure);
    return null;
  }
}
