import type { Knex } from "knex";
import type { JobRecord } from "../../src/domain/job/job-record.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { checkpointTable } from "../checkpoint.ts";
import { askPrepared } from "../prepared.ts";
import { onReadableRows } from "../readable-rows.ts";
import { decodeCursor, encodeCursor, type JobOrder } from "./cursor.ts";
import type { JobListOptions } from "./list-options.ts";
import { listStatement, recordOf } from "./list-statements.ts";
import { jobsProjector } from "./projector.ts";
import { type JobRecordRow, toJobRecord } from "./rows.ts";
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

export const createJobQueries = (db: Knex): JobQueries =>
  onReadableRows(db, jobsProjector, {
    find: (job) => find(db, job),
    list: (tenant, options) => list(db, tenant, options),
  });

type Asked = { readonly read_sequence: number } & (JobRecordRow | { readonly id: null });

const findSql = `
  SELECT checkpoint.sequence AS read_sequence, ${recordOf("job")}
  FROM \`${checkpointTable("jobs")}\` AS checkpoint
  LEFT JOIN \`${jobTables("").jobs}\` AS job ON job.id = ? AND job.tenant = ? WHERE checkpoint.id = 1`;

/** One statement, so the job is exactly as of the checkpoint, also while tables are swapped. */
async function find(db: Knex, { tenant, jobId }: JobRef): ReturnType<JobQueries["find"]> {
  const [row] = await askPrepared<Asked>(db, { sql: findSql, bindings: [jobId, tenant] });
  return {
    readSequence: Number(row?.read_sequence ?? 0),
    job: row === undefined || row.id === null ? null : toJobRecord(row),
  };
}

async function list(db: Knex, tenant: string, options: JobListOptions): Promise<JobList> {
  const { pageSize, sortBy } = options;
  const cursor = options.cursor === null ? null : decodeCursor(options.cursor, options);
  const statement = listStatement(tenant, options, cursor);
  const rows = await askPrepared<Asked & { readonly counted: string | number | null }>(db, statement);
  const found = rows.filter((row): row is typeof row & JobRecordRow => row.id !== null).map(toJobRecord);
  const jobs = found.sort(inOrder(options)).slice(0, pageSize);
  const total = cursor?.total ?? Number(rows[0]?.counted ?? 0);
  const last = found.length > pageSize ? jobs.at(-1) : undefined;
  return {
    readSequence: Number(rows[0]?.read_sequence ?? 0),
    jobs,
    total,
    nextCursor: last === undefined ? null : encodeCursor({ ...options, value: last[sortBy], id: last.id, total }),
  };
}

/** As the databases have it: NULL is the smallest value, and no two jobs tie. */
function inOrder({ sortBy, order }: JobOrder): (one: JobRecord, other: JobRecord) => number {
  const first = order === "asc" ? -1 : 1;
  const isBefore = (one: JobRecord, other: JobRecord): boolean => {
    const [a, b] = [one[sortBy] ?? "", other[sortBy] ?? ""];
    return a === b ? one.id < other.id : a < b;
  };
  return (one, other) => (isBefore(one, other) ? first : -first);
}
