/** Attempts of a row: as the longest delay is five minutes, for about a day. */
export const maxAttempts = 300;

const firstDelayMs = 1000;
const longestDelayMs = 300_000;

/** How long a row waits after an attempt that failed for no fault of its own: 1, 2, 4 … seconds, then 5 minutes. */
export const delayAfterAttempt = (attempt: number): number =>
  Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(attempt - 1, 20));

/**
 * How long nobody else takes a row that was taken for this attempt: longer than it takes to make a job or to give up
 * on NATS. A row that kills whoever takes it is taken ever less often.
 */
export const leaseOfAttempt = (attempt: number): number => Math.max(30_000, delayAfterAttempt(attempt));
