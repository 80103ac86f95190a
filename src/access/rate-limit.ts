/** The state of a caller's limit after a request, as the RateLimit headers report it. */
export type RateState = {
  /** Requests per minute, which is also the largest burst. */
  readonly limit: number;
  readonly left: number;
  /** Until the bucket is full again. */
  readonly resetSeconds: number;
  /** Null if the request is admitted; else until the next one would be. */
  readonly retryAfterSeconds: number | null;
};

export type RateLimit = { take(caller: string): RateState };

type Bucket = { tokens: number; at: number };

const minuteMs = 60_000;

/**
 * A bucket of `perMinute` tokens for each caller, which refills over a minute. The buckets are in the memory of this
 * process: each API process allows as many requests, and a restart refills them. A bucket that is full again is dropped.
 */
export function createRateLimit(perMinute: number, nowMs: () => number = () => performance.now()): RateLimit {
  const buckets = new Map<string, Bucket>();
  let forgottenAt = nowMs();
  const perMs = perMinute / minuteMs;
  const secondsUntil = (tokens: number): number => Math.ceil(Math.max(0, tokens) / perMs / 1000);
  return {
    take: (caller) => {
      const now = nowMs();
      if (now - forgottenAt >= minuteMs) {
        for (const [one, { at }] of buckets) if (now - at >= minuteMs) buckets.delete(one);
        forgottenAt = now;
      }
      const bucket = buckets.get(caller) ?? { tokens: perMinute, at: now };
      const filled = Math.min(perMinute, bucket.tokens + (now - bucket.at) * perMs);
      const isAllowed = filled >= 1;
      const tokens = isAllowed ? filled - 1 : filled;
      buckets.set(caller, { tokens, at: now });
      return {
        limit: perMinute,
        left: Math.floor(tokens),
        resetSeconds: secondsUntil(perMinute - tokens),
        retryAfterSeconds: isAllowed ? null : Math.max(1, secondsUntil(1 - tokens)),
      };
    },
  };
}
