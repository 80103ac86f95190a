import { type Throttle, type ThrottleRules, usualRules } from "./throttle.ts";

/**
 * What two workers know of one receiver, as one. The later slowing down stands; within one round both have answered to the
 * same refusals, and the one that has grown last knows more.
 */
export function merge(one: Throttle, other: Throttle, { roundMs }: ThrottleRules = usualRules): Throttle {
  const [earlier, later] = isBefore(one, other, roundMs) ? [one, other] : [other, one];
  return {
    ...later,
    recordedAt: one.recordedAt ?? other.recordedAt,
    since: Math.min(one.since, other.since),
    freePace: Math.max(one.freePace, other.freePace),
    refusedAt: Math.max(one.refusedAt, other.refusedAt),
    reason: earlier.refusedAt > later.refusedAt ? earlier.reason : later.reason,
  };
}

/** Whether `own` speaks of an older time than `other`, which another worker stored. */
export const isOlder = (own: Throttle, other: Throttle, { roundMs }: ThrottleRules = usualRules): boolean =>
  other.slowedAt >= own.slowedAt + roundMs;

function isBefore(one: Throttle, other: Throttle, roundMs: number): boolean {
  if (Math.abs(one.slowedAt - other.slowedAt) >= roundMs) return one.slowedAt < other.slowedAt;
  if (one.grownAt !== other.grownAt) return one.grownAt < other.grownAt;
  return one.perSecond > other.perSecond;
}
