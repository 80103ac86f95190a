import { setTimeout as pause } from "node:timers/promises";

/** Resolves when the next mail may be sent. Resolves at once if the signal aborts, which the caller then has to check. */
export type Pace = (signal: AbortSignal) => Promise<void>;

/**
 * Spreads mails evenly, at most `perSecond`; null for no limit. Evenly, because mail servers count over windows of their
 * own, and a burst across the edge of two windows is twice what they allow.
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
