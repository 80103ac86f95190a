/** Lets mails through at a rate that may change. */
export type Pace = {
  /** Resolves when the next mail may be sent; null at once, where none has to wait. The signal ends the wait: the caller checks it. */
  readonly turn: (signal: AbortSignal) => Promise<void> | null;
  /** Mails per second; null for no limit, and 0 to let none through. It counts for mails that wait already. */
  readonly setRate: (perSecond: number | null) => void;
  readonly rate: () => number | null;
  /** How many mails wait. */
  readonly waiting: () => number;
};

/** A timer cannot be set for longer. */
const longestTimerMs = 60_000;
/** Timers come late by this much on a busy machine: so far the rate is kept up. */
const lateMs = 50;

/**
 * Spreads mails evenly, at most `perSecond`; null for no limit. Evenly, because mail servers count over windows of their
 * own, and a burst across the edge of two windows is twice what they allow.
 */
export function createPace(perSecond: number | null): Pace {
  let rate = perSecond;
  let gapMs = gapOf(perSecond);
  let lastAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;
  const waiting: (() => void)[] = [];

  const letGo = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const now = performance.now();
    while (waiting.length > 0 && lastAt + gapMs <= now) {
      // From the time that was due, not from that of a late timer; but a process that stood still does not catch up.
      lastAt = Math.max(lastAt + gapMs, now - lateMs);
      waiting.shift()?.();
    }
    if (waiting.length === 0 || gapMs === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(letGo, Math.min(longestTimerMs, Math.max(0, lastAt + gapMs - now)));
  };

  return {
    rate: () => rate,
    waiting: () => waiting.length,
    setRate: (next) => {
      if (next === rate) return;
      rate = next;
      gapMs = gapOf(next);
      letGo();
    },
    turn: (signal) => {
      if (gapMs === 0) return null;
      return new Promise((resolve) => {
        const end = (): void => {
          signal.removeEventListener("abort", abort);
          resolve();
        };
        const abort = (): void => {
          const place = waiting.indexOf(end);
          if (place >= 0) waiting.splice(place, 1);
          end();
        };
        if (signal.aborted) return resolve();
        signal.addEventListener("abort", abort, { once: true });
        waiting.push(end);
        if (waiting.length > 1) return;
        lastAt = Math.max(lastAt, performance.now() - gapMs);
        letGo();
      });
    },
  };
}

const gapOf = (perSecond: number | null): number => {
  if (perSecond === null) return 0;
  return perSecond === 0 ? Number.POSITIVE_INFINITY : 1000 / perSecond;
};
