import { setTimeout as pause } from "node:timers/promises";
import { createPollLoop, type PollLoop } from "../process/poll-loop.ts";

/** Rows of the outbox that became a job or failed. */
export interface EndedRows {
  /** Removes at most `limit` rows that are older than this, and returns how many it removed. */
  remove(olderThanMs: number, limit: number): Promise<number>;
}

export type RowRetentionSettings = {
  readonly keptMs: number;
  /** The pause after a round that found nothing more to do. */
  readonly everyMs: number;
};

export type RowRetentionReports = {
  /** Is called after each round that removed rows. */
  readonly removed: (rows: number) => void;
  readonly failed: (failure: unknown) => void;
};

/** Few enough not to slow down the applications that write into the table. */
const rowsInStep = 500;
const betweenStepsMs = 250;

/**
 * Removes rows that have ended and were kept long enough, in small steps, because a row holds content and recipients for
 * as long as it exists. The retention of its job is separate. A row that is written again under the id of a removed row
 * finds the job of that row. Several processes may do this at once, without harm.
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
