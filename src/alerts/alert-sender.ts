import { setTimeout as pause } from "node:timers/promises";
import type { AlertEvent } from "../domain/alerts/events.ts";
import { webhookDelayMs } from "../domain/webhooks/schedule.ts";
import type { AlertFeed } from "../event-log/decision-feed.ts";
import type { Delivery } from "../event-log/delivery.ts";
import type { StoredEvent } from "../event-log/event-log.ts";

/** The outcome of one attempt to notify one receiver, in a closed vocabulary. */
export type AlertOutcome =
  | { readonly kind: "notified" }
  /** To be tried again; `retryAfterMs` is what the receiver asked for. */
  | { readonly kind: "later"; readonly code: string; readonly retryAfterMs: number | null }
  | { readonly kind: "never"; readonly code: string };

/** A receiver of alerts. An alert that is sent to it twice has the same id both times. */
export interface AlertReceiver {
  /** For log lines and metrics; contains no address. */
  readonly kind: "webhook" | "mail";
  notify(entry: StoredEvent<AlertEvent>, signal: AbortSignal): Promise<AlertOutcome>;
}

export type AlertSender = {
  start(): void;
  /** Waits up to `graceMs` for the calls in progress; the next process sends what is left. */
  stop(graceMs: number): Promise<void>;
};

/** Is called with the outcome of each attempt; `isLast` if no other attempt follows. */
export type OnAttempt = (
  receiver: AlertReceiver,
  outcome: AlertOutcome,
  entry: StoredEvent<AlertEvent>,
  isLast: boolean,
) => void;

type Report = (failure: unknown) => void;

/** Well within the time after which the server hands an alert to another process. */
const keepEveryMs = 3000;
/** Older alerts are not sent: a consumer that was created anew starts with the first alert ever recorded. */
const sentWithinMs = 86_400_000;

/**
 * Sends every alert to every receiver, straight from the log: at least once, retrying for a day if need be. An alert is
 * acknowledged once every receiver was notified or given up; after a crash before that it is sent again, with the same id.
 */
export function createAlertSender(
  feed: AlertFeed,
  receivers: readonly AlertReceiver[],
  onAttempt: OnAttempt,
  report: Report,
): AlertSender {
  const stopping = new AbortController();
  const held = new Map<number, Promise<void>>();
  let loop: Promise<void> | null = null;

  const notifyOne = async (receiver: AlertReceiver, entry: StoredEvent<AlertEvent>): Promise<void> => {
    for (let attempt = 1; !stopping.signal.aborted; attempt += 1) {
      const outcome = await tryToNotify(receiver, entry, stopping.signal, report);
      if (stopping.signal.aborted && outcome.kind !== "notified") return;
      const askedMs = outcome.kind === "later" ? outcome.retryAfterMs : null;
      const delayMs = outcome.kind === "later" ? webhookDelayMs(attempt, askedMs, Math.random()) : null;
      onAttempt(receiver, outcome, entry, delayMs === null);
      if (delayMs === null) return;
      await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };

  const notifyAll = async ({ entry, acknowledge, keep, giveBack }: Delivery<AlertEvent>): Promise<void> => {
    const keeping = setInterval(keep, keepEveryMs);
    try {
      const isNews = Date.now() - Date.parse(entry.event.at) < sentWithinMs;
      if (isNews) await Promise.all(receivers.map((receiver) => notifyOne(receiver, entry)));
      if (stopping.signal.aborted) giveBack(0);
      else acknowledge();
    } finally {
      clearInterval(keeping);
      held.delete(entry.sequence);
    }
  };

  const run = async (): Promise<void> => {
    for await (const deliveries of feed.batches(stopping.signal)) {
      for (const delivery of deliveries) {
        const { sequence } = delivery.entry;
        // An alert that is in progress was delivered twice: it comes again if it is not acknowledged.
        if (!held.has(sequence)) held.set(sequence, notifyAll(delivery).catch(report));
      }
    }
  };

  return {
    start: () => {
      loop ??= run();
    },
    stop: async (graceMs) => {
      stopping.abort();
      await loop;
      const over = new AbortController();
      await Promise.race([
        Promise.all(held.values()),
        pause(graceMs, undefined, { signal: over.signal }).catch(() => {}),
      ]);
      over.abort();
    },
  };
}

async function tryToNotify(
  receiver: AlertReceiver,
  entry: StoredEvent<AlertEvent>,
  signal: AbortSignal,
  report: Report,
): Promise<AlertOutcome> {
  try {
    return await receiver.notify(entry, signal);
  } catch (failure) {
    report(failure);
    return { kind: "later", code: "failed", retryAfterMs: null };
  }
}
