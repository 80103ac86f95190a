/** Where a caller stands after a request, as the RateLimit headers say it. */
export type RateState = {
  /** Requests per minute, and at once. */
  readonly limit: number;
  readonly left: number;
  /** Until all of them are there again. */
  readonly resetSeconds: number;
  /** Null where the request is let in; else until the next one is. */
  readonly retryAfterSeconds: number | null;
};

export type RateLimit = { take(caller: string): RateState };

type Bucket = { tokens: number; at: number };

const minuteMs = 60_000;

/**
 * A bucket of `perMinute` tokens for each caller, which fills again over a minute. It is in the memory of this process:
 * each API process allows as many, and a restart fills the buckets. A bucket that is full again is forgotten.
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
