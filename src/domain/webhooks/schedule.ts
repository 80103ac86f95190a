const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** The delays between the attempts of a round: eleven attempts within a day. */
export const webhookDelaysMs: readonly number[] = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  6 * hour,
  10 * hour,
];

/** The longest delay that a receiver may ask for: more would keep a message for over a day. */
const longestAskedMs = 10 * hour;
const jitter = 0.1;

/**
 * How long to wait after a failed attempt; null after the last one. `chance` is a random number from 0 to 1: attempts that
 * failed together are not repeated together. A receiver that asks for more time (Retry-After) gets it, within limits.
 */
export function webhookDelayMs(attempt: number, askedMs: number | null, chance: number): number | null {
  const planned = webhookDelaysMs[attempt - 1];
  if (planned === undefined) return null;
  const spread = Math.round(planned * (1 + jitter * (2 * chance - 1)));
  return Math.max(spread, Math.min(askedMs ?? 0, longestAskedMs));
}
