import { setTimeout as pause } from "node:timers/promises";
import type { AlertEvent } from "../domain/alerts/events.ts";
import { webhookDelayMs } from "../domain/webhooks/schedule.ts";
import type { AlertFeed } from "../event-log/decision-feed.ts";
import type { Delivery } from "../event-log/delivery.ts";
import type { StoredEvent } from "../event-log/event-log.ts";

/** What came of telling one receiver once, in a closed vocabulary. */
export type AlertOutcome =
  | { readonly kind: "told" }
  /** Not this time: `retryAfterMs` is what the receiver asked for. */
  | { readonly kind: "later"; readonly code: string; readonly retryAfterMs: number | null }
  | { readonly kind: "never"; readonly code: string };

/** Somebody who is told of alerts: the same one twice has the same id. */
export interface AlertReceiver {
  /** For log lines and metrics: it names no address. */
  readonly kind: "webhook" | "mail";
  notify(entry: StoredEvent<AlertEvent>, signal: AbortSignal): Promise<AlertOutcome>;
}

export type AlertSender = {
  start(): void;
  /** What is on its way may take so long; what is not told by then is told by whoever comes next. */
  stop(graceMs: number): Promise<void>;
};

/** Hears what came of each try. */
export type OnAttempt = (
  receiver: AlertReceiver,
  telling: AlertOutcome,
  entry: StoredEvent<AlertEvent>,
  isLast: boolean,
) => void;

type Report = (failure: unknown) => void;

/** Well within the time after which the server hands an alert to somebody else. */
const keepEveryMs = 3000;
/** What happened longer ago is no news: a reader that was made anew begins with the first alert there ever was. */
const toldWithinMs = 86_400_000;

/**
 * Tells every receiver of every alert, straight from the log: at least once each, over a day if need be. An alert is
 * acknowledged once all were told or given up; a crash before that tells them again, with the same ids.
 */
export function createAlertSender(
  feed: AlertFeed,
  receivers: readonly AlertReceiver[],
  told: OnAttempt,
  report: Report,
): AlertSender {
  const stopping = new AbortController();
  const held = new Map<number, Promise<void>>();
  let loop: Promise<void> | null = null;

  const tellOne = async (receiver: AlertReceiver, entry: StoredEvent<AlertEvent>): Promise<void> => {
    for (let attempt = 1; !stopping.signal.aborted; attempt += 1) {
      const telling = await tryToTell(receiver, entry, stopping.signal, report);
      if (stopping.signal.aborted && telling.kind !== "told") return;
      const askedMs = telling.kind === "later" ? telling.retryAfterMs : null;
      const delayMs = telling.kind === "later" ? webhookDelayMs(attempt, askedMs, Math.random()) : null;
      told(receiver, telling, entry, delayMs === null);
      if (delayMs === null) return;
      await pause(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };

  const tell = async ({ entry, acknowledge, keep, giveBack }: Delivery<AlertEvent>): Promise<void> => {
    const keeping = setInterval(keep, keepEveryMs);
    try {
      const isNews = Date.now() - Date.parse(entry.event.at) < toldWithinMs;
      if (isNews) await Promise.all(receivers.map((receiver) => tellOne(receiver, entry)));
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
        // One that is in hand already came twice: it comes again should it not be acknowledged.
        if (!held.has(sequence)) held.set(sequence, tell(delivery).catch(report));
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

async function tryToTell(
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
