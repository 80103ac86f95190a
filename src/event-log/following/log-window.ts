import { endOfBatch } from "../batches.ts";
import { type EventLog, type LogEvent, usualRestMs } from "../event-log.ts";
import { isBehind } from "./behind.ts";

const readAtOnce = 500;

export type LogWindow = {
  /** Whether the event after a sequence is in the window, or comes next, facts included for a reader that wants them. */
  covers(sequence: number, wantsFacts: boolean): boolean;
  /** How many entries it has yet to read until it comes to a sequence; null where it is there, or beyond, or without the facts. */
  distanceTo(sequence: number, wantsFacts: boolean): number | null;
  /** Whether facts are decoded: as long as a reader wants them. */
  hasFacts(): boolean;
  /** Adds a reader at a sequence that is covered, or that the window has yet to come to. */
  subscribe(afterSequence: number, reader: WindowReader, signal: AbortSignal): Subscription;
};

/** What a reader of a window takes, and how long it may rest: see FollowOptions. */
export type WindowReader = { readonly wantsFacts: boolean; readonly restMs: () => number };

/** One reader of a window, and how far it has come. */
export type Subscription = {
  readonly position: () => number;
  /**
   * The next events of whole entries, at least one entry and else at most `maxEvents` events; waits for them. Null once the signal aborts, and if the
   * window has moved on without this reader, or fails before it has come to it. Throws the failure of following the log, after every event before it.
   */
  next(maxEvents: number): Promise<readonly LogEvent[] | null>;
  end(): void;
};

/**
 * How long a window waits for readers that delay others, in ms; then it moves on without them. Its readers are `behind`
 * while what it reads is old.
 */
export type Patience = { readonly atEnd: number; readonly behind: number };

export type WindowOptions = {
  readonly log: EventLog;
  readonly afterSequence: number;
  readonly wantsFacts: boolean;
  readonly patienceMs: Patience;
  /**
   * More than a reader takes in a batch, so that decoding continues while a database is busy; about a kilobyte each.
   */
  readonly keptEvents: number;
  /** Called when the window has no readers left, or no more events. */
  readonly onOver: () => void;
};

/**
 * The last few thousand events of the log, read and decoded once for all readers at about the same sequence. The window
 * reads ahead, but never so far that it would drop events that no reader has taken: it waits for a database that is
 * away.
 */
export function openWindow(options: WindowOptions): LogWindow {
  const { log, afterSequence, patienceMs, keptEvents, onOver } = options;
  const changed = createNotifier();
  const closing = new AbortController();
  const cursors = new Set<Cursor>();
  let kept: LogEvent[] = [];
  let start = afterSequence;
  let hasFacts = options.wantsFacts;
  let failure: { readonly cause: unknown } | null = null;

  const end = (): number => kept.at(-1)?.sequence ?? start;
  const drop = (count: number): void => {
    start = kept[count - 1]?.sequence ?? start;
    kept = kept.slice(count);
  };
  /** For each batch and not for each reader, of which there can be thousands; in steps, because the remaining events are copied. */
  const dropTaken = (): void => {
    const count = indexAfter(kept, Math.min(...[...cursors].map(({ position }) => position)));
    if (count === kept.length || count >= readAtOnce) drop(count);
  };
  const makeRoomFor = async (more: readonly LogEvent[]): Promise<void> => {
    if (kept.length < readAtOnce || kept.length + more.length <= keptEvents) return;
    const end = endOfBatch(kept, 0, readAtOnce);
    const sequence = kept[end - 1]?.sequence ?? start;
    const forMs = isBehind(more) ? patienceMs.behind : patienceMs.atEnd;
    await untilTaken(cursors, sequence, { forMs, changed, isClosed: () => closing.signal.aborted });
    // A reader that is left behind delays the others once.
    for (const cursor of cursors) if (cursor.position < sequence) cursors.delete(cursor);
    if (start < sequence) drop(indexAfter(kept, sequence));
  };
  const shortestRestMs = (): number => {
    const [first = usualRestMs, ...others] = [...cursors].map(({ restMs }) => restMs());
    return Math.min(first, ...others);
  };
  const read = async (): Promise<void> => {
    const wants = { wantsFacts: () => hasFacts, restMs: shortestRestMs };
    const from = { afterSequence, maxEvents: readAtOnce, signal: closing.signal, ...wants };
    for await (const batch of log.follow(from)) {
      dropTaken();
      await makeRoomFor(batch);
      for (const entry of batch) kept.push(entry);
      changed.notify();
    }
  };
  read()
    .catch((cause: unknown) => {
      failure = { cause };
    })
    .finally(() => {
      onOver();
      changed.notify();
    });

  return {
    covers: (sequence, wantsFacts) => start <= sequence && sequence <= end() && (hasFacts || !wantsFacts),
    distanceTo: (sequence, wantsFacts) => (sequence > end() && (hasFacts || !wantsFacts) ? sequence - end() : null),
    hasFacts: () => hasFacts,
    subscribe: (from, reader, signal) => {
      const cursor: Cursor = { position: from, ...reader };
      cursors.add(cursor);
      signal.addEventListener("abort", changed.notify);
      return {
        position: () => cursor.position,
        next: async (maxEvents) => {
          while (!signal.aborted && cursor.position >= start) {
            const first = indexAfter(kept, cursor.position);
            const entries = kept.slice(first, endOfBatch(kept, first, maxEvents));
            if (entries.length > 0) {
              cursor.position = entries.at(-1)?.sequence ?? cursor.position;
              changed.notify();
              return entries;
            }
            if (failure !== null) {
              if (cursor.position > end()) return null;
              throw failure.cause;
            }
            await changed.notified();
          }
          return null;
        },
        end: () => {
          signal.removeEventListener("abort", changed.notify);
          cursors.delete(cursor);
          // For good: a later reader that wants facts could not know since when they are there again.
          hasFacts = [...cursors].some((other) => other.wantsFacts);
          changed.notify();
          if (cursors.size > 0) return;
          closing.abort();
          onOver();
        },
      };
    },
  };
}

/** The sequence up to which a reader has taken the events. */
type Cursor = WindowReader & { position: number };

type Waiting = { readonly forMs: number; readonly changed: Notifier; readonly isClosed: () => boolean };

/** Waits until all readers have reached a sequence: without a limit while none has, and for `forMs` once one of them could go on. */
async function untilTaken(
  cursors: ReadonlySet<Cursor>,
  sequence: number,
  { forMs, changed, isClosed }: Waiting,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let isEnough = false;
  const runOut = (): void => {
    isEnough = true;
    changed.notify();
  };
  while (!isClosed()) {
    const behind = [...cursors].filter(({ position }) => position < sequence).length;
    if (behind === 0 || isEnough) break;
    if (behind < cursors.size) timer ??= setTimeout(runOut, forMs);
    await changed.notified();
  }
  clearTimeout(timer);
}

/** The index of the first entry after a sequence. */
function indexAfter(entries: readonly LogEvent[], sequence: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.sequence ?? Number.POSITIVE_INFINITY) <= sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Notifies all waiters; each then checks what has changed. */
type Notifier = {
  readonly notify: () => void;
  /** Resolves at the next notification. */
  readonly notified: () => Promise<void>;
};

function createNotifier(): Notifier {
  let waiting: (() => void)[] = [];
  return {
    notify: () => {
      const notified = waiting;
      waiting = [];
      for (const resolve of notified) resolve();
    },
    notified: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
      }),
  };
}
