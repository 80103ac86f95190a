export type Semaphore = {
  /** Waits until there is room, then starts the work without waiting for its end. The work must never reject. */
  take(work: () => Promise<void>): Promise<void>;
  readonly free: () => number;
  /** Aborts when no more work is to be started. */
  readonly stopping: AbortSignal;
  /** Aborts when unfinished work is to be abandoned. */
  readonly givenUp: AbortSignal;
  /** Starts no more work and waits for what is running, for at most `graceMs`. */
  stop(graceMs: number): Promise<void>;
};

/** Lets at most `count` pieces of work run at a time. */
export function createSemaphore(count: number): Semaphore {
  const stopping = new AbortController();
  const givenUp = new AbortController();
  const running = new Set<Promise<void>>();
  return {
    take: async (work) => {
      while (running.size >= count) await Promise.race(running);
      const done: Promise<void> = work().finally(() => running.delete(done));
      running.add(done);
    },
    free: () => count - running.size,
    stopping: stopping.signal,
    givenUp: givenUp.signal,
    stop: async (graceMs) => {
      stopping.abort();
      const timer = setTimeout(() => givenUp.abort(), graceMs);
      while (running.size > 0) await Promise.all(running);
      clearTimeout(timer);
    },
  };
}

export type FairSemaphore = {
  /** Waits until there is room, then does the work. */
  run<Result>(owner: string, work: () => Promise<Result>): Promise<Result>;
  /** The same, but waits for room no longer than that; answers null if there was none. The work may leave its place early. */
  runWithin<Result>(
    patienceMs: number,
    owner: string,
    work: (leave: () => void) => Promise<Result>,
  ): Promise<Result | null>;
  /** Takes a place, and returns what leaves it; null if there is none now. */
  takeAtOnce(owner: string): (() => void) | null;
};

/** Lets at most `total` pieces of work run at a time, and `each` of one owner: an owner with much slow work leaves room for others. */
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

  const enter = async (owner: string, patienceMs: number): Promise<boolean> => {
    if (hasRoom(owner)) {
      take(owner);
      return true;
    }
    return await new Promise<boolean>((resolve) => {
      const timer = patienceMs < Number.POSITIVE_INFINITY ? setTimeout(() => end(false), patienceMs) : undefined;
      const one = { owner, begin: () => end(true) };
      const end = (hasBegun: boolean): void => {
        clearTimeout(timer);
        if (!hasBegun) waiting.splice(waiting.indexOf(one), 1);
        resolve(hasBegun);
      };
      waiting.push(one);
    });
  };
  const leavingOf = (owner: string): (() => void) => {
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      leave(owner);
    };
  };
  const doThenLeave = async <Result>(owner: string, work: (leave: () => void) => Promise<Result>): Promise<Result> => {
    const leaveOnce = leavingOf(owner);
    try {
      return await work(leaveOnce);
    } finally {
      leaveOnce();
    }
  };

  return {
    run: async (owner, work) => {
      await enter(owner, Number.POSITIVE_INFINITY);
      return await doThenLeave(owner, work);
    },
    runWithin: async (patienceMs, owner, work) =>
      (await enter(owner, patienceMs)) ? await doThenLeave(owner, work) : null,
    takeAtOnce: (owner) => {
      if (!hasRoom(owner)) return null;
      take(owner);
      return leavingOf(owner);
    },
  };
}
