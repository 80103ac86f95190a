import type { Knex } from "knex";
import type { JobRecord } from "../../src/domain/job/job-record.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { checkpointTable, readCheckpoint } from "../checkpoint.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import type { JobListOptions } from "./list-options.ts";
import { countStatement, pageStatement, type Statement } from "./list-statements.ts";
import { type JobRow, toJobRecord } from "./rows.ts";
import { jobTables } from "./tables.ts";

export type JobList = {
  readonly readSequence: number;
  readonly jobs: readonly JobRecord[];
  readonly total: number;
  /** Null after the last job. */
  readonly nextCursor: string | null;
};

/** Every question is one tenant's: what is not theirs is not there. */
export type JobQueries = {
  find(job: JobRef): Promise<{ readonly readSequence: number; readonly job: JobRecord | null }>;
  /** Throws InvalidCursor. */
  list(tenant: string, options: JobListOptions): Promise<JobList>;
};

export const createJobQueries = (db: Knex): JobQueries => ({
  find: (job) => find(db, job),
  list: (tenant, options) => list(db, tenant, options),
});

type Found = { readonly read_sequence: number } & (JobRow | { readonly id: null });

/** One statement, so the job is exactly as of the checkpoint, also while tables are swapped. */
async function find(db: Knex, { tenant, jobId }: JobRef): ReturnType<JobQueries["find"]> {
  const sql = `
    SELECT checkpoint.sequence AS read_sequence, job.*
    FROM ?? AS checkpoint LEFT JOIN ?? AS job ON job.id = ? AND job.tenant = ? WHERE checkpoint.id = 1`;
  const [rows] = (await db.raw(sql, [checkpointTable("jobs"), jobTables("").jobs, jobId, tenant])) as [Found[]];
  const row = rows[0];
  return {
    readSequence: Number(row?.read_sequence ?? 0),
    job: row === undefined || row.id === null ? null : toJobRecord(row),
  };
}

async function list(db: Knex, tenant: string, options: JobListOptions): Promise<JobList> {
  const cursor = options.cursor === null ? null : decodeCursor(options.cursor, options);
  // The checkpoint first: the rows are then at least as new as it says.
  const checkpoint = await readCheckpoint(db, "jobs");
  const [rows, total] = await Promise.all([
    select<JobRow>(db, pageStatement(tenant, options, cursor)),
    cursor?.total ?? count(db, tenant, options),
  ]);
  const jobs = rows.slice(0, options.pageSize).map(toJobRecord);
  const last = rows.length > options.pageSize ? jobs.at(-1) : undefined;
  return {
    readSequence: checkpoint?.sequence ?? 0,
    jobs,
    total,
    nextCursor:
      last === undefined ? null : encodeCursor({ ...options, value: last[options.sortBy], id: last.id, total }),
  };
}

async function count(db: Knex, tenant: string, options: JobListOptions): Promise<number> {
  const [row] = await select<{ total: number }>(db, countStatement(tenant, options));
  return Number(row?.total ?? 0);
}

async function select<Row>(db: Knex, { sql, bindings }: Statement): Promise<Row[]> {
  const [rows] = await db.raw(sql, bindings as Knex.RawBinding[]);
  return rows as Row[];
}
