export type Semaphore = {
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
export function createSemaphore(count: number): Semaphore {
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

export type FairSemaphore = {
  /** Waits until there is room, and works. */
  run<Result>(owner: string, work: () => Promise<Result>): Promise<Result>;
};

/** At most `total` at a time, and `each` of one owner: whoever has a lot that takes long leaves room for others. */
export function createFairSemaphore(total: number, each: number): FairSemaphore {
  const busy = new Map<string, number>();
  const waiting: { readonly owner: string; readonly begin: () => void }[] = [];
  let taken = 0;

  const hasRoom = (owner: string): boolean => taken < total && (busy.get(owner) ?? 0) < each;
  const take = (owner: string): void => {
    taken += 1;
    busy.set(owner, (busy.get(owner) ?? 0) + 1);
  };
  const leave = (owner: string): void => {
    taken -= 1;
    const left = (busy.get(owner) ?? 1) - 1;
    if (left === 0) busy.delete(owner);
    else busy.set(owner, left);
    const index = waiting.findIndex((one) => hasRoom(one.owner));
    const [next] = index < 0 ? [] : waiting.splice(index, 1);
    if (next === undefined) return;
    take(next.owner);
    next.begin();
  };

  return {
    run: async (owner, work) => {
      if (hasRoom(owner)) take(owner);
      else await new Promise<void>((begin) => waiting.push({ owner, begin }));
      try {
        return await work();
      } finally {
        leave(owner);
      }
    },
  };
}
