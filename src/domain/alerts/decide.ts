import type { Instant } from "../message.ts";
import { type AlertEvent, type AlertName, isShare } from "./events.ts";
import type { AlertLimits, Measurement } from "./measure.ts";

/** The state of an alert according to the log. */
export type AlertState = {
  readonly isRaised: boolean;
  /** When it was last raised or cleared; null for never. */
  readonly since: Instant | null;
  /** The event that raised it, while it is raised. */
  readonly raised: { readonly sequence: number; readonly id: string } | null;
};

export const neverRaised: AlertState = { isRaised: false, since: null, raised: null };

type Stored = { readonly sequence: number; readonly id: string; readonly event: AlertEvent };

export function alertAfter(state: AlertState, { sequence, id, event }: Stored): AlertState {
  switch (event.type) {
    case "AlertRaised":
      return state.isRaised ? state : { isRaised: true, since: event.at, raised: { sequence, id } };
    case "AlertCleared":
      return { isRaised: false, since: event.at, raised: null };
  }
}

/** How many looks in a row found the value over its threshold, or clearly within it. */
export type Streak = { readonly over: number; readonly within: number };

export const noStreak: Streak = { over: 0, within: 0 };

/** A look without a result neither counts nor interrupts the streak. */
export const streakAfter = (streak: Streak, measured: Measurement | null): Streak =>
  measured === null
    ? streak
    : { over: measured.isOver ? streak.over + 1 : 0, within: measured.isWithin ? streak.within + 1 : 0 };

/** A single look may have caught a moment such as a restart or a burst. */
const looksToRaise = 2;
const looksToClear = 3;

/** The event to record about an alert; null if its state does not change. */
export function decideAlert(
  alert: AlertName,
  state: AlertState,
  measured: Measurement | null,
  streak: Streak,
  { thresholds, windowSeconds, quietSeconds }: AlertLimits,
  at: Instant,
): AlertEvent | null {
  const threshold = thresholds[alert];
  const isCounted = isShare(alert) || alert === "dead-letters";
  const figure = {
    alert,
    value: measured?.value ?? null,
    threshold,
    windowSeconds: isCounted ? windowSeconds : null,
    about: measured?.about ?? null,
  };
  if (state.raised !== null) {
    // An alert that was turned off while raised is cleared, because nothing else would ever report its end.
    if (threshold !== null && streak.within < looksToClear) return null;
    return { type: "AlertCleared", at, data: { ...figure, raisedSequence: state.raised.sequence } };
  }
  const sinceMs = state.since === null ? Number.POSITIVE_INFINITY : Date.parse(at) - Date.parse(state.since);
  // A time that is yet to come was written before a clock was set back: it would keep the alert quiet until then.
  const isQuiet = sinceMs >= 0 && sinceMs < quietSeconds * 1000;
  if (threshold === null || streak.over < looksToRaise || isQuiet) return null;
  return { type: "AlertRaised", at, data: figure };
}
