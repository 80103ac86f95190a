export type Hands = {
  /** Waits for a free hand, and begins the work; it does not wait for its end. The work never rejects. */
  take(work: () => Promise<void>): Promise<void>;
  readonly free: () => number;
  /** Aborts when no more work is to be taken. */
  readonly stopping: AbortSignal;
  /** Aborts when what is not done is left as it is. */
  readonly givenUp: AbortSignal;
  /** Takes no more, and waits for what is in hand, but not longer than `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** So many pieces of work at a time. */
export function createHands(count: number): Hands {
  const stopping = new AbortController();
  const givenUp = new AbortController();
  const inHand = new Set<Promise<void>>();
  return {
    take: async (work) => {
      while (inHand.size >= count) await Promise.race(inHand);
      const done: Promise<void> = work().finally(() => inHand.delete(done));
      inHand.add(done);
    },
    free: () => count - inHand.size,
    stopping: stopping.signal,
    givenUp: givenUp.signal,
    stop: async (graceMs) => {
      stopping.abort();
      const timer = setTimeout(() => givenUp.abort(), graceMs);
      while (inHand.size > 0) await Promise.all(inHand);
      clearTimeout(timer);
    },
  };
}
