export type PastLimits = {
  /** How many readers of one tenant may read the past at a time, in this process. */
  readonly ofTenant: number;
  /** How long a new reader waits to be let in. */
  readonly patienceMs: number;
  /** A reader that has read for so long makes room while others wait. */
  readonly sliceMs: number;
  /** A reader whose client takes nothing for so long makes room. */
  readonly stallMs: number;
};

/**
 * Feeds that read older events from the log: a few of each tenant at a time, in turn, and all of them together one batch
 * after the other with a rest in between, so that reading the past leaves the log and this process to the writers. Feeds at
 * the head of the log do not pass through here.
 */
export interface PastReaders {
  /** A reader that is not let in yet. The signal makes it leave. */
  reader(tenant: string, signal: AbortSignal): PastReader;
  /** How many readers are in, of all tenants. */
  inside(): number;
}

export type PastReader = {
  /** Whether the reader was let in; resolves when it is, or when its patience ends. */
  comeIn(): Promise<boolean>;
  /** Reads a batch when it is this reader's turn, which may be after others; null where the signal aborts first. */
  read<Batch>(batch: () => Promise<Batch>): Promise<Batch | null>;
  /** Makes room. The reader may ask to be let in again. */
  leave(): void;
};

/** The readers of one tenant: those that wait are let in in order. */
type Room = { inside: number; readonly waiting: Set<() => void> };

export function createPastReaders({ ofTenant, patienceMs, sliceMs, stallMs }: PastLimits): PastReaders {
  const rooms = new Map<string, Room>();
  const pace = createPace();
  let inside = 0;

  const roomOf = (tenant: string): Room => {
    const room = rooms.get(tenant) ?? { inside: 0, waiting: new Set() };
    rooms.set(tenant, room);
    return room;
  };
  const enter = (room: Room): void => {
    room.inside += 1;
    inside += 1;
  };
  const makeRoom = (tenant: string, room: Room): void => {
    room.inside -= 1;
    inside -= 1;
    const [next] = room.waiting;
    next?.();
    if (room.inside === 0 && room.waiting.size === 0) rooms.delete(tenant);
  };

  const reader = (tenant: string, signal: AbortSignal): PastReader => {
    let room: Room | null = null;
    let since = 0;
    let stalled: NodeJS.Timeout | undefined;

    const leave = (): void => {
      clearTimeout(stalled);
      signal.removeEventListener("abort", leave);
      if (room !== null) makeRoom(tenant, room);
      room = null;
    };
    const isIn = (found: Room): void => {
      enter(found);
      room = found;
      since = performance.now();
      signal.addEventListener("abort", leave, { once: true });
    };
    const comeIn = (waitMs: number): Promise<boolean> => {
      if (room !== null || signal.aborted) return Promise.resolve(!signal.aborted);
      const found = roomOf(tenant);
      if (found.inside < ofTenant && found.waiting.size === 0) {
        isIn(found);
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const end = (came: boolean): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", giveUp);
          found.waiting.delete(admit);
          if (came) isIn(found);
          resolve(came);
        };
        const admit = (): void => end(true);
        const giveUp = (): void => end(false);
        const timer = Number.isFinite(waitMs) ? setTimeout(giveUp, waitMs).unref() : undefined;
        signal.addEventListener("abort", giveUp, { once: true });
        found.waiting.add(admit);
      });
    };
    return {
      comeIn: () => comeIn(patienceMs),
      leave,
      read: async (batch) => {
        clearTimeout(stalled);
        if (room !== null && room.waiting.size > 0 && performance.now() - since > sliceMs) leave();
        if (!(await comeIn(Number.POSITIVE_INFINITY))) return null;
        try {
          return await pace(batch);
        } finally {
          stalled = setTimeout(leave, stallMs).unref();
          if (room === null) clearTimeout(stalled);
        }
      },
    };
  };
  return { reader, inside: () => inside };
}

/** After each piece of work the queue rests for twice the time that the work took, so that others get most of the time. */
const restShare = 2;
const leastRestMs = 1;
/** The longest rest, however slow the log is at present. */
const longestRestMs = 250;

/** Does pieces of work one at a time, in the order of the requests, and rests after each. */
export function createPace(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let rested: Promise<void> = Promise.resolve();
  return async (work) => {
    const before = rested;
    let done = (): void => {};
    rested = new Promise((resolve) => {
      done = resolve;
    });
    await before;
    const beganAt = performance.now();
    try {
      return await work();
    } finally {
      const tookMs = performance.now() - beganAt;
      setTimeout(done, Math.min(longestRestMs, Math.max(leastRestMs, tookMs * restShare)));
    }
  };
}
