/** How long a job waits between its attempts: a list of delays, or base × factor ^ (n - 1); see delayBeforeAttempt. */
export type RetrySchedule = {
  readonly baseDelayMs: number;
  readonly factor: number;
  /**
   * The random share of a delay, 0 to 1, added or subtracted so that jobs that failed together do not return together.
   */
  readonly jitter: number;
  /** The last delay applies to all further attempts. */
  readonly delaysMs: readonly number[] | null;
};

/** However base and factor make a schedule grow, a job is tried again within a day. */
const longestDelayMs = 24 * 60 * 60 * 1000;

/**
 * The schedule of a job that asked for its own first delay: it grows from there, and ignores the service's list of
 * delays.
 */
export const scheduleOfJob = (schedule: RetrySchedule, retryDelayMs: number | null): RetrySchedule =>
  retryDelayMs === null ? schedule : { ...schedule, baseDelayMs: retryDelayMs, delaysMs: null };

/**
 * Whole milliseconds between the end of an attempt and the next one, which is `attempt`: 2 has the first delay.
 * `randomShare` is a random number from 0 to 1; at 0.5 the delay is exactly that of the schedule.
 */
export function delayBeforeAttempt(attempt: number, schedule: RetrySchedule, randomShare: number): number {
  const delay = delayOf(schedule, attempt - 2);
  const jitter = schedule.jitter * (2 * randomShare - 1);
  const longestMs = schedule.delaysMs === null ? longestDelayMs : Number.POSITIVE_INFINITY;
  return Math.round(Math.min(delay * (1 + jitter), longestMs));
}

/** `retries` counts from 0. There may be thousands: an infinite power would make NaN of a delay of 0. */
const delayOf = ({ baseDelayMs, factor, delaysMs }: RetrySchedule, retries: number): number =>
  delaysMs?.[Math.min(retries, delaysMs.length - 1)] ??
  baseDelayMs * Math.min(factor ** retries, Number.MAX_SAFE_INTEGER);
