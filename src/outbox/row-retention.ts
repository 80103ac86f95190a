import { setTimeout as pause } from "node:timers/promises";
import { createPollLoop, type PollLoop } from "../poll-loop.ts";

/** Rows of the outbox that have become a job, or were given up. */
export interface EndedRows {
  /** Removes some of those that were written so long ago, at most `limit`; how many it has removed. */
  remove(olderThanMs: number, limit: number): Promise<number>;
}

export type RowRetentionSettings = {
  readonly keptMs: number;
  /** Between two rounds of which the first has found nothing more to do. */
  readonly everyMs: number;
};

export type RowRetentionReports = {
  /** Of each round that has removed something. */
  readonly removed: (rows: number) => void;
  readonly failed: (failure: unknown) => void;
};

/** Few enough that the applications which write into the table do not feel it. */
const rowsInStep = 500;
const betweenStepsMs = 250;

/**
 * Removes rows that have ended and were kept long enough, some at a time: a row holds what was to be sent and to whom
 * for as long as it is there. Its job is another matter, and has its own time. A row that is written again under the id
 * of one that was removed finds the job that was made of it. Several processes may do it at once, without harm.
 */
export function createRowRetention(
  rows: EndedRows,
  { keptMs, everyMs }: RowRetentionSettings,
  { removed, failed }: RowRetentionReports,
): PollLoop {
  const poll = async (stopping: AbortSignal): Promise<"done"> => {
    let sum = 0;
    try {
      while (!stopping.aborted) {
        const count = await rows.remove(keptMs, rowsInStep);
        sum += count;
        if (count < rowsInStep) break;
        await pause(betweenStepsMs, undefined, { signal: stopping }).catch(() => {});
      }
    } finally {
      if (sum > 0) removed(sum);
    }
    return "done";
  };

  return createPollLoop({ poll, everyMs, report: failed });
}
