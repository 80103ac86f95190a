import {
  adapt,
  type Heard,
  paceAfter,
  type Throttle,
  type ThrottleRules,
  type Unthrottled,
} from "../../domain/throttles/throttle.ts";

/** A throttled receiver in the memory of one worker, which takes its share of window and pace. */
export type LocalThrottle = {
  throttle: Throttle;
  inFlight: number;
  /** When the next mail may be sent. */
  nextAt: number;
  /** Until when the mails that were put off have taken the room. */
  bookedUntil: number;
  /** Since the last step. */
  heard: Heard;
  steppedAt: number;
  /** The pace that the store has; null for none. */
  storedPace: number | null;
  storedAt: number;
  /** Whether the store lacks a refusal. */
  isUnstored: boolean;
};

/** Mails that could not be sent for a moment may follow at once. */
const burstMs = 250;
/** A slot of the window is free again about now. */
const soonMs = 50;

const nothing = (at: number): Heard => ({ at, taken: 0, refused: 0, reason: null });

export const localThrottle = (throttle: Throttle, at: number): LocalThrottle => ({
  throttle,
  inFlight: 0,
  nextAt: at,
  bookedUntil: at,
  heard: nothing(at),
  steppedAt: at,
  storedPace: null,
  storedAt: Number.NEGATIVE_INFINITY,
  isUnstored: true,
});

const gapMs = ({ throttle }: LocalThrottle, workers: number): number => (1000 * workers) / throttle.perSecond;

/** The milliseconds until the next mail may be sent: 0 for now. Each worker has at least one slot of the window. */
export function roomIn(local: LocalThrottle, at: number, workers: number, { longestPauseMs }: ThrottleRules): number {
  // No time is further ahead but where the clock was set back, or that of the worker that wrote it is ahead.
  const pausedUntil = Math.min(local.throttle.pausedUntil, at + longestPauseMs);
  if (pausedUntil < local.throttle.pausedUntil) local.throttle = { ...local.throttle, pausedUntil };
  local.nextAt = Math.min(local.nextAt, at + gapMs(local, workers));
  if (at < pausedUntil) return pausedUntil - at;
  const { window, rounds } = local.throttle;
  const slots = rounds > 1 ? 1 : Math.max(1, Math.floor(window / workers));
  return local.inFlight >= slots ? soonMs : Math.max(0, local.nextAt - at);
}

export function takeRoom(local: LocalThrottle, at: number, workers: number): void {
  local.nextAt = Math.max(local.nextAt, at - burstMs) + gapMs(local, workers);
  local.inFlight += 1;
}

const longestReturnMs = 900_000;
/** A caller books room for what it will send when it comes back, not for all that waits: it then comes back once more. */
const longestBookingMs = 10_000;

/**
 * Books room for so many mails after those that were booked before; returns the milliseconds until then. The pace is
 * expected to have grown by then, up to twice the one that was refused: a caller that comes too early books again, and
 * one that comes too late waits while the receiver has long been free.
 */
export function book(local: LocalThrottle, mails: number, at: number, workers: number, rules: ThrottleRules): number {
  const roomAt = at + roomIn(local, at, workers, rules);
  const from = Math.max(roomAt, local.bookedUntil);
  const { perSecond, refusedPace } = local.throttle;
  const grown = Math.min(2 * refusedPace, paceAfter(local.throttle, from - roomAt));
  const bookedMs = (1000 * workers * mails) / Math.max(perSecond, grown);
  local.bookedUntil = Math.min(at + longestReturnMs, from + Math.min(longestBookingMs, bookedMs));
  return Math.min(longestReturnMs, from - at);
}

/**
 * Counts an answer, and adapts once in a round: by all that was answered in it, as one refusal among many answers means
 * nothing. Returns whether the receiver is still throttled.
 */
export function addAnswer(local: LocalThrottle, one: Heard, free: () => Unthrottled, rules: ThrottleRules): boolean {
  const { heard, steppedAt } = local;
  const [taken, refused] = [heard.taken + one.taken, heard.refused + one.refused];
  local.heard = { at: one.at, taken, refused, reason: one.reason ?? heard.reason };
  if (one.at - steppedAt < rules.roundMs && one.at >= steppedAt) return true;
  const after = adapt(local.throttle, local.heard, free(), rules);
  if (after === null) return false;
  local.isUnstored ||= after.refusedAt > local.throttle.refusedAt;
  local.throttle = after;
  local.heard = nothing(one.at);
  local.steppedAt = one.at;
  return true;
}

const storeEveryMs = 1000;
/** A growth by less is not worth a request to the store. */
const worthStoring = 1.25;

/** Whether the store is to have what this worker knows: a refusal soon, growth in steps, neither more than once a second. */
export function isToBeStored({ throttle, storedPace, storedAt, isUnstored }: LocalThrottle, at: number): boolean {
  if (Math.abs(at - storedAt) < storeEveryMs) return false;
  return isUnstored || (storedPace !== null && throttle.perSecond >= storedPace * worthStoring);
}
