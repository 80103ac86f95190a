import type { EventLog, LogEntry } from "../../src/event-log/event-log.ts";

const readAtOnce = 500;

export type LogWindow = {
  /** Whether what comes after a sequence is here, or comes next. */
  covers(sequence: number): boolean;
  /** For a place that is covered. */
  takeSeat(afterSequence: number, signal: AbortSignal): Seat;
};

/** Where one reader of a window stands. */
export type Seat = {
  readonly position: () => number;
  /**
   * What comes next, at least one event and at most so many; waits for it. Null once the signal aborts, and where the
   * window has moved on without this reader. Throws what following the log threw, after everything before it.
   */
  next(maxEvents: number): Promise<readonly LogEntry[] | null>;
  leave(): void;
};

export type WindowOptions = {
  readonly log: EventLog;
  readonly afterSequence: number;
  /** The window waits so long for readers who hold up others, then moves on without them. */
  readonly patienceMs: number;
  /** More than a batch of whoever reads, so that decoding goes on while a database is busy; about a kilobyte each. */
  readonly keptEvents: number;
  /** There is nobody to read it, or nothing more to be read from it. */
  readonly onOver: () => void;
};

/**
 * The last few thousand events of the log, read and decoded once for everybody who stands there. It reads ahead, but
 * never so far that what nobody has taken yet would be dropped: a database that is away makes it wait.
 */
export function openWindow({ log, afterSequence, patienceMs, keptEvents, onOver }: WindowOptions): LogWindow {
  const bell = createBell();
  const closing = new AbortController();
  const places = new Set<Place>();
  let kept: LogEntry[] = [];
  let start = afterSequence;
  let failure: { readonly cause: unknown } | null = null;

  const end = (): number => kept.at(-1)?.sequence ?? start;
  /** Not for each event, as what stays is copied. */
  const drop = (count: number): void => {
    if (count < kept.length && count < readAtOnce) return;
    start = kept[count - 1]?.sequence ?? start;
    kept = kept.slice(count);
  };
  const makeRoom = async (more: number): Promise<void> => {
    const last = kept[readAtOnce - 1];
    if (last === undefined || kept.length + more <= keptEvents) return;
    await untilTaken(places, last.sequence, { patienceMs, bell, isClosed: () => closing.signal.aborted });
    if (start < last.sequence) drop(readAtOnce);
  };
  const read = async (): Promise<void> => {
    for await (const batch of log.follow({ afterSequence, maxEvents: readAtOnce, signal: closing.signal })) {
      await makeRoom(batch.length);
      for (const entry of batch) kept.push(entry);
      bell.ring();
    }
  };
  read()
    .catch((cause: unknown) => {
      failure = { cause };
    })
    .finally(() => {
      onOver();
      bell.ring();
    });

  return {
    covers: (sequence) => start <= sequence && sequence <= end(),
    takeSeat: (from, signal) => {
      const place: Place = { position: from };
      places.add(place);
      signal.addEventListener("abort", bell.ring);
      return {
        position: () => place.position,
        next: async (maxEvents) => {
          while (!signal.aborted && place.position >= start) {
            const first = indexAfter(kept, place.position);
            const entries = kept.slice(first, first + maxEvents);
            if (entries.length > 0) {
              place.position = entries.at(-1)?.sequence ?? place.position;
              drop(indexAfter(kept, Math.min(...[...places].map(({ position }) => position))));
              bell.ring();
              return entries;
            }
            if (failure !== null) throw failure.cause;
            await bell.heard();
          }
          return null;
        },
        leave: () => {
          signal.removeEventListener("abort", bell.ring);
          places.delete(place);
          bell.ring();
          if (places.size > 0) return;
          closing.abort();
          onOver();
        },
      };
    },
  };
}

/** Up to where a reader has taken the events. */
type Place = { position: number };

type Patience = { readonly patienceMs: number; readonly bell: Bell; readonly isClosed: () => boolean };

/** Until all have come as far as that: without a limit while nobody has, with patience once somebody could go on. */
async function untilTaken(
  places: ReadonlySet<Place>,
  sequence: number,
  { patienceMs, bell, isClosed }: Patience,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let isEnough = false;
  const runOut = (): void => {
    isEnough = true;
    bell.ring();
  };
  while (!isClosed()) {
    const behind = [...places].filter(({ position }) => position < sequence).length;
    if (behind === 0 || isEnough) break;
    if (behind < places.size) timer ??= setTimeout(runOut, patienceMs);
    await bell.heard();
  }
  clearTimeout(timer);
}

/** Where the entries after a sequence begin. */
function indexAfter(entries: readonly LogEntry[], sequence: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.sequence ?? Number.POSITIVE_INFINITY) <= sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Wakes everybody who waits for it. Whoever hears it looks for himself what has changed. */
type Bell = {
  readonly ring: () => void;
  /** Resolves with the next ring. */
  readonly heard: () => Promise<void>;
};

function createBell(): Bell {
  let waiting: (() => void)[] = [];
  return {
    ring: () => {
      const woken = waiting;
      waiting = [];
      for (const wake of woken) wake();
    },
    heard: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
  };
}
