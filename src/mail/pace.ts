import { setTimeout as pause } from "node:timers/promises";

/** Resolves when the next mail may go; aborted, it resolves at once, for whoever then has to look why. */
export type Pace = (signal: AbortSignal) => Promise<void>;

/**
 * Spreads mails evenly, at most `perSecond` of them; null for no limit. Evenly, because mail servers count over windows
 * of their own, and a burst at the edge of two is twice what they allow.
 */
export function createPace(perSecond: number | null): Pace {
  if (perSecond === null) return async () => {};
  const gapMs = 1000 / perSecond;
  let nextAt = 0;
  return async (signal) => {
    const now = performance.now();
    const at = Math.max(now, nextAt);
    nextAt = at + gapMs;
    if (at > now) await pause(at - now, undefined, { signal }).catch(() => {});
  };
}
