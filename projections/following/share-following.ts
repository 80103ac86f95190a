import type { EventLog, FollowOptions, LogEvent } from "../../src/event-log/event-log.ts";
import { type LogWindow, openWindow, type WindowOptions } from "./log-window.ts";

type Together = Pick<WindowOptions, "patienceMs" | "keptEvents">;

/** The patience is longer than a healthy database takes for a batch; the events kept are one and a half batches. */
const whileAllIsWell: Together = { patienceMs: 200, keptEvents: 3_000 };

/**
 * For projections of the whole log that end together: each is as fast as the slowest, and all are faster than one by
 * one. Their batches are larger.
 */
export const asOne: Together = { patienceMs: 30_000, keptEvents: 13_000 };

/**
 * Shares the log among several projections of one process: those at about the same sequence share one reader, so that
 * every event is fetched and decoded once for all of them. Each follows as if it were alone. A projection that falls
 * behind the others by more than a window delays them for at most `patienceMs`, then reads alone until it has caught
 * up; one that stops or fails does not affect the others.
 */
export function shareFollowing(log: EventLog, together: Together = whileAllIsWell): EventLog {
  const opened = new Set<SharedWindow>();

  // Keeps events of a log that was created again apart from those of the log before it.
  const windowsOf: WindowsOf = (createdAt) => ({
    find: (sequence) => {
      // Takes the oldest window that covers the sequence: because all projections choose so, windows that meet become
      // one.
      for (const { window, logCreatedAt } of opened) {
        if (logCreatedAt === createdAt && window.covers(sequence)) return window;
      }
      return null;
    },
    open: (sequence) => {
      const onOver = (): void => {
        opened.delete(shared);
      };
      const window = openWindow({ log, afterSequence: sequence, ...together, onOver });
      const shared = { logCreatedAt: createdAt, window };
      opened.add(shared);
      return window;
    },
  });
  return { ...log, follow: (options) => followTogether(log, windowsOf, options) };
}

type SharedWindow = { readonly logCreatedAt: string; readonly window: LogWindow };

type WindowsOf = (createdAt: string) => {
  readonly find: (sequence: number) => LogWindow | null;
  readonly open: (sequence: number) => LogWindow;
};

async function* followTogether(
  log: EventLog,
  windowsOf: WindowsOf,
  { afterSequence, maxEvents, signal }: FollowOptions,
): AsyncGenerator<readonly LogEvent[]> {
  if (signal.aborted) return;
  const windows = windowsOf((await log.state()).createdAt);
  let position = afterSequence;
  while (!signal.aborted) {
    const window = windows.find(position) ?? windows.open(position);
    const subscription = window.subscribe(position, signal);
    try {
      for (let batch = await subscription.next(maxEvents); batch !== null; batch = await subscription.next(maxEvents)) {
        yield batch;
        position = subscription.position();
        if ((windows.find(position) ?? window) !== window) break;
      }
    } finally {
      subscription.end();
    }
  }
}
