import type { Knex } from "knex";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { readCheckpoint } from "../following/checkpoint.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { logsProjector } from "./projector.ts";
import { type LogEntry, type LogRow, type LogStatus, logsTable, toLogEntry } from "./rows.ts";

export type LogListOptions = {
  readonly status: LogStatus | null;
  /** The whole address, in its original case. */
  readonly email: string | null;
  /** The `id` of an entry, as a number: the list begins after it. */
  readonly after: number | null;
  readonly limit: number;
};

export type LogList = {
  readonly readSequence: number;
  /** Oldest first. */
  readonly entries: readonly LogEntry[];
  /** The value of `after` for the next entries; null after the last. */
  readonly next: number | null;
};

export type LogQueries = {
  /** What happened to the recipients of a job; empty for a job of another tenant. */
  list(job: JobRef, options: LogListOptions): Promise<LogList>;
};

export const createLogQueries = (db: Knex): LogQueries =>
  onReadableRows(db, logsProjector, {
    list: async ({ tenant, jobId }, { status, email, after, limit }) => {
      // Reads the checkpoint first: the rows are then at least as new as it.
      const checkpoint = await readCheckpoint(db, "logs");
      const filters = { ...(status === null ? {} : { status }), ...(email === null ? {} : { email }) };
      const rows: LogRow[] = await db(logsTable(""))
        .where({ job_id: jobId, tenant, ...filters })
        .andWhere("sequence", ">", after ?? 0)
        .orderBy("sequence")
        .limit(limit + 1);
      const entries = rows.slice(0, limit).map(toLogEntry);
      const last = rows.length > limit ? entries.at(-1) : undefined;
      return { readSequence: checkpoint?.sequence ?? 0, entries, next: last === undefined ? null : Number(last.id) };
    },
  });
