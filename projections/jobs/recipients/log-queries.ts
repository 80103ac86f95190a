import type { Knex } from "knex";
import type { Statement } from "../../../src/database/prepared.ts";
import type { JobRef } from "../../../src/event-log/event-log.ts";
import { readCheckpoint } from "../../following/checkpoint.ts";
import { onReadableRows } from "../../following/readable-rows.ts";
import { jobsProjector } from "../projector.ts";
import { jobTables } from "../tables.ts";
import { type LogEntry, type LogRow, logColumns, toLogEntry } from "./log-rows.ts";
import { type MailingLogOptions, type MailingLogPage, readLogOfMailing } from "./mailing-logs.ts";
import type { LogStatus } from "./outcome-details.ts";
import { addressKeyOf } from "./rows.ts";

export type LogListOptions = {
  readonly status: LogStatus | null;
  /** The whole address, in any spelling. */
  readonly email: string | null;
  /** The place of an entry: the list begins after it. */
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
  /** The same of all parts of a mailing. */
  listOfMailing(
    mailing: JobRef,
    options: MailingLogOptions,
  ): Promise<MailingLogPage & { readonly readSequence: number }>;
};

export const createLogQueries = (db: Knex): LogQueries =>
  onReadableRows(db, jobsProjector, {
    listOfMailing: async (mailing, options) => {
      const checkpoint = await readCheckpoint(db, jobsProjector.name);
      const readSequence = checkpoint?.sequence ?? 0;
      return { readSequence, ...(await readLogOfMailing(db, mailing, { ...options, upTo: readSequence })) };
    },
    list: async (job, options) => {
      // Reads the checkpoint first: the rows are then at least as new as it.
      const checkpoint = await readCheckpoint(db, jobsProjector.name);
      const { sql, bindings } = statementFor(job, options);
      const [found] = (await db.raw(sql, bindings as Knex.RawBinding[])) as [LogRow[]];
      const rows = found.slice(0, options.limit);
      const last = found.length > options.limit ? rows.at(-1) : undefined;
      return {
        readSequence: checkpoint?.sequence ?? 0,
        entries: rows.map(toLogEntry),
        next: last === undefined ? null : Number(last.place),
      };
    },
  });

const { jobs, recipients, earlier } = jobTables("");

/** One statement, because an outcome may move from one table to the other between two. */
function statementFor(job: JobRef, options: LogListOptions): Statement {
  const fromRows = partOf(job, options, `\`${recipients}\` AS outcome`, "outcome");
  const fromEarlier = partOf(
    job,
    options,
    `\`${earlier}\` AS outcome LEFT JOIN \`${recipients}\` AS recipient
      ON recipient.job = outcome.job AND recipient.recipient = outcome.recipient`,
    "recipient",
  );
  return {
    sql: `(${fromRows.sql}) UNION ALL (${fromEarlier.sql}) ORDER BY place LIMIT ?`,
    bindings: [...fromRows.bindings, ...fromEarlier.bindings, options.limit + 1],
  };
}

function partOf(
  { tenant, jobId }: JobRef,
  { status, email, after, limit }: LogListOptions,
  tables: string,
  person: string,
): Statement {
  const filters = [
    ...(status === null ? [] : [{ sql: "AND outcome.status = ?", binding: status }]),
    ...(email === null ? [] : [{ sql: `AND ${person}.address = ?`, binding: addressKeyOf(email) }]),
  ];
  return {
    sql: `
      SELECT ${logColumns("outcome", person)} FROM ${tables}
      WHERE outcome.job = (SELECT place FROM \`${jobs}\` WHERE id = ? AND tenant = ?) AND outcome.place > ?
        ${filters.map(({ sql }) => sql).join(" ")}
      ORDER BY outcome.place LIMIT ?`,
    bindings: [jobId, tenant, after ?? 0, ...filters.map(({ binding }) => binding), limit + 1],
  };
}
