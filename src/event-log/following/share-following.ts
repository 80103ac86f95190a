import { type EventLog, type FollowOptions, type LogEvent, usualRestMs } from "../event-log.ts";
import { isBehind } from "./behind.ts";
import { type LogWindow, openWindow, type WindowOptions } from "./log-window.ts";

type Together = Pick<WindowOptions, "patienceMs" | "keptEvents"> & {
  /**
   * A reader that is behind waits for a window that is at most so many entries behind it, and less far than the end of the
   * log is away; then both share it.
   */
  readonly reach: number;
};

/**
 * The patience at the end of the log is longer than a healthy database takes for a batch. Far behind, it is longer than
 * a busy one does: readers that part there decode everything once each, and the slowest of them gets the least of the
 * process. The events kept are one and a half batches of a projection; a window comes as far as the reach in some 10 s.
 */
const whileAllIsWell: Together = { patienceMs: { atEnd: 200, behind: 5_000 }, keptEvents: 3_000, reach: 100_000 };

/**
 * For projections of the whole log that end together: each is as fast as the slowest, and all are faster than one by
 * one. Their batches are larger.
 */
export const asOne: Together = {
  patienceMs: { atEnd: 30_000, behind: 30_000 },
  keptEvents: 13_000,
  reach: Number.POSITIVE_INFINITY,
};

/**
 * Shares the log among those of one process that follow it: those at about the same sequence share one reader, so that
 * every entry is fetched and decoded once for all of them. Each follows as if it were alone. One that falls behind the
 * others by more than a window delays them for as long as they are patient, then reads alone until it has caught up, or they
 * have waited for it; one that stops or fails does not affect the others. The log is followed as long as there is one.
 */
export function shareFollowing(log: EventLog, together: Together = whileAllIsWell): EventLog {
  const opened = new Set<SharedWindow>();

  // Keeps events of a log that was created again apart from those of the log before it.
  const windowsOf: WindowsOf = (createdAt) => ({
    find: (sequence, wantsFacts) => {
      // Takes one with facts, and of these the oldest that covers the sequence: because all readers choose so, windows
      // that meet become one.
      const covering = [...opened].filter(
        ({ window, logCreatedAt }) => logCreatedAt === createdAt && window.covers(sequence, wantsFacts),
      );
      return (covering.find(({ window }) => window.hasFacts()) ?? covering[0])?.window ?? null;
    },
    findBehind: (sequence, wantsFacts, reach = together.reach) => {
      const within = [...opened].flatMap(({ window, logCreatedAt }) => {
        const distance = logCreatedAt === createdAt ? window.distanceTo(sequence, wantsFacts) : null;
        return distance !== null && distance <= Math.min(reach, together.reach) ? [{ window, distance }] : [];
      });
      return within.toSorted((one, other) => other.distance - one.distance)[0]?.window ?? null;
    },
    open: (sequence, wantsFacts) => {
      const onOver = (): void => {
        opened.delete(shared);
      };
      const window = openWindow({ log, afterSequence: sequence, wantsFacts, ...together, onOver });
      const shared = { logCreatedAt: createdAt, window };
      opened.add(shared);
      return window;
    },
  });
  return { ...log, follow: (options) => followTogether(log, windowsOf, options) };
}

type SharedWindow = { readonly logCreatedAt: string; readonly window: LogWindow };

type WindowsOf = (createdAt: string) => {
  readonly find: (sequence: number, wantsFacts: boolean) => LogWindow | null;
  /** The last of the windows that have yet to come to a sequence, and are within reach. */
  readonly findBehind: (sequence: number, wantsFacts: boolean, reach?: number) => LogWindow | null;
  readonly open: (sequence: number, wantsFacts: boolean) => LogWindow;
};

async function* followTogether(
  log: EventLog,
  windowsOf: WindowsOf,
  { afterSequence, maxEvents, signal, wantsFacts: asked, restMs = () => usualRestMs }: FollowOptions,
): AsyncGenerator<readonly LogEvent[]> {
  if (signal.aborted) return;
  const wantsFacts = asked?.() ?? true;
  const state = await log.state(signal).catch((failure: unknown) => {
    if (signal.aborted) return null;
    throw failure;
  });
  if (state === null) return;
  const windows = windowsOf(state.createdAt);
  let position = afterSequence;
  /** The window to wait for after a batch: no event that happens now waits meanwhile. */
  const worthWaitingFor = async (batch: readonly LogEvent[]): Promise<LogWindow | null> => {
    if (!isBehind(batch) || windows.findBehind(position, wantsFacts) === null) return null;
    const end = await log.state(signal).catch(() => null);
    return end === null ? null : windows.findBehind(position, wantsFacts, end.lastSequence - position);
  };
  /** Where to go on after a batch, if not in the same window. */
  const elsewhere = async (window: LogWindow, batch: readonly LogEvent[]): Promise<LogWindow | null> => {
    const best = (await worthWaitingFor(batch)) ?? windows.find(position, wantsFacts);
    return best === window ? null : best;
  };
  let next: LogWindow | null = null;
  while (!signal.aborted) {
    const window: LogWindow = next ?? windows.find(position, wantsFacts) ?? windows.open(position, wantsFacts);
    next = null;
    const subscription = window.subscribe(position, { wantsFacts, restMs }, signal);
    try {
      for (let batch = await subscription.next(maxEvents); batch !== null; batch = await subscription.next(maxEvents)) {
        yield batch;
        position = subscription.position();
        next = await elsewhere(window, batch);
        if (next !== null) break;
      }
    } finally {
      subscription.end();
    }
  }
}
