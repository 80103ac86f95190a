import { setTimeout as pause } from "node:timers/promises";
import type { AlertEvent } from "../domain/alerts/events.ts";
import { webhookDelayMs } from "../domain/webhooks/schedule.ts";
import type { StoredEvent, WaybillEvent } from "../event-log/event-log.ts";
import type { Listener } from "../event-log/following/listener.ts";

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

/** Is called with the outcome of each attempt; `isLast` if no other attempt follows. */
export type OnAttempt = (
  receiver: AlertReceiver,
  outcome: AlertOutcome,
  entry: StoredEvent<AlertEvent>,
  isLast: boolean,
) => void;

type Report = (failure: unknown) => void;

const tryAgainMs = 1000;
/** Each waits for its slowest receiver, for a day at most. */
const atOnce = 1000;
/**
 * Older alerts are not sent where the sender finds them when it starts: one without a checkpoint starts with the first alert
 * ever recorded. What comes later is new, whatever the clocks of two processes say.
 */
const sentWithinMs = 86_400_000;

/**
 * Sends every alert to every receiver, straight from the log: at least once, retrying for a day if need be. An alert is
 * done once every receiver was notified or given up; after a crash before that it is sent again, with the same id.
 * `foundUpTo` is the last entry that the log had when this process started.
 */
export function createAlertSender(
  receivers: readonly AlertReceiver[],
  foundUpTo: number,
  onAttempt: OnAttempt,
  report: Report,
): Listener {
  const notifyOne = async (
    receiver: AlertReceiver,
    entry: StoredEvent<AlertEvent>,
    stopping: AbortSignal,
  ): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await tryToNotify(receiver, entry, stopping, report);
      if (outcome.kind !== "notified") stopping.throwIfAborted();
      const askedMs = outcome.kind === "later" ? outcome.retryAfterMs : null;
      const delayMs = outcome.kind === "later" ? webhookDelayMs(attempt, askedMs, Math.random()) : null;
      onAttempt(receiver, outcome, entry, delayMs === null);
      if (delayMs === null) return;
      await pause(delayMs, undefined, { signal: stopping });
    }
  };
  let oldUpTo = foundUpTo;
  const isLongAgo = ({ sequence, event }: StoredEvent<AlertEvent>): boolean =>
    sequence <= oldUpTo && Date.now() - Date.parse(event.at) >= sentWithinMs;
  return {
    name: "alerts",
    beginAfter: (lastSequence) => {
      oldUpTo = Math.max(oldUpTo, lastSequence);
      return 0;
    },
    act: (event, { stopping }) => {
      if (!isAlert(event) || isLongAgo(event)) return null;
      return Promise.all(receivers.map((receiver) => notifyOne(receiver, event, stopping))).then(() => {});
    },
    atOnce,
    tryAgainMs,
  };
}

const isAlert = (event: StoredEvent<WaybillEvent>): event is StoredEvent<AlertEvent> =>
  event.event.type === "AlertRaised" || event.event.type === "AlertCleared";

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
