import type { Knex } from "knex";
import { askPrepared } from "../../src/database/prepared.ts";
import type { JobRecord } from "../../src/domain/job/job-record.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { checkpointTable } from "../following/checkpoint.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { askSlowly } from "../following/slow-queries.ts";
import { toInstant } from "../instants.ts";
import { decodeCursor, encodeCursor, type JobListOptions, type JobOrder } from "./list-options.ts";
import { endStatement, inOrderStatement, type ListRange, listStatement, recordOf } from "./list-statements.ts";
import { jobsProjector } from "./projector.ts";
import { type JobRecordRow, toJobRecord } from "./rows.ts";
import { defaultBounds, isBounded, type RangeEnd, type SearchBounds, takesLong } from "./search-range.ts";
import { jobTables } from "./tables.ts";

export type JobList = {
  readonly readSequence: number;
  readonly jobs: readonly JobRecord[];
  /** Null if counting them would take too long. */
  readonly total: number | null;
  /**
   * Null after the last job. A search may have a cursor on a page that is not full, or empty: it continues with the
   * rest.
   */
  readonly nextCursor: string | null;
};

/** Every query is for one tenant: jobs of other tenants do not exist for it. */
export type JobQueries = {
  find(job: JobRef): Promise<{ readonly readSequence: number; readonly job: JobRecord | null }>;
  /** Throws InvalidCursor. */
  list(tenant: string, options: JobListOptions): Promise<JobList>;
  /** What people call these jobs; those that are not there (any more) are missing. */
  names(tenant: string, ids: readonly string[]): Promise<ReadonlyMap<string, NamesOfJob>>;
};

export type NamesOfJob = Pick<JobRecord, "name" | "subject">;

/** Searches, and pages far from the first, have connections of their own, so that a list never waits for one. */
export const createJobQueries = (db: Knex, searches: Knex = db, bounds: SearchBounds = defaultBounds): JobQueries =>
  onReadableRows(db, jobsProjector, {
    find: (job) => find(db, job),
    list: (tenant, options) =>
      takesLong(options, bounds)
        ? askSlowly(searches, tenant, () => list(searches, tenant, options, bounds))
        : list(db, tenant, options, bounds),
    names: async (tenant, ids) => {
      const { jobs: table } = jobTables("");
      const rows: readonly (NamesOfJob & { readonly id: string })[] = await db(table)
        .select("id", "name", "subject")
        .where({ tenant })
        .whereIn("id", [...ids]);
      return new Map(rows.map(({ id, name, subject }) => [id, { name, subject }]));
    },
  });

type Asked = { readonly read_sequence: number } & (JobRecordRow | { readonly id: null });

const findSql = `
  SELECT checkpoint.sequence AS read_sequence, ${recordOf("job")}
  FROM \`${checkpointTable("jobs")}\` AS checkpoint
  LEFT JOIN \`${jobTables("").jobs}\` AS job ON job.id = ? AND job.tenant = ? WHERE checkpoint.id = 1`;

/** One statement, so the job is exactly as of the checkpoint, even while tables are swapped. */
async function find(db: Knex, { tenant, jobId }: JobRef): ReturnType<JobQueries["find"]> {
  const [row] = await askPrepared<Asked>(db, { sql: findSql, bindings: [jobId, tenant] });
  return {
    readSequence: Number(row?.read_sequence ?? 0),
    job: row === undefined || row.id === null ? null : toJobRecord(row),
  };
}

type ListedRow = Asked & { readonly counted: string | number | null };

async function list(db: Knex, tenant: string, options: JobListOptions, bounds: SearchBounds): Promise<JobList> {
  const { pageSize, sortBy } = options;
  const cursor = options.cursor === null ? null : decodeCursor(options.cursor, options);
  const end = isBounded(options) ? await findEnd(db, tenant, options, { cursor, end: null, bounds }) : null;
  const rows = await askForPage(db, tenant, options, { cursor, end, bounds });
  const found = rows.filter((row): row is typeof row & JobRecordRow => row.id !== null).map(toJobRecord);
  const jobs = found.sort(inOrder(options)).slice(0, pageSize);
  const total = cursor === null ? totalOf(rows[0]) : cursor.total;
  const last = found.length > pageSize ? jobs.at(-1) : undefined;
  // A stored total can say that there is nothing in what was not searched.
  const isAll = cursor === null && options.page === 1 && total !== null && found.length >= total;
  const rest = isAll ? null : end;
  const next = last === undefined ? rest : { value: last[sortBy], id: last.id };
  return {
    readSequence: Number(rows[0]?.read_sequence ?? 0),
    jobs,
    total,
    nextCursor: next === null ? null : encodeCursor({ ...options, ...next, total }),
  };
}

/** At least one row, which says of which moment the page is. */
async function askForPage(db: Knex, tenant: string, options: JobListOptions, range: ListRange): Promise<ListedRow[]> {
  const inOrder = inOrderStatement(tenant, options, range);
  const rows = inOrder === null ? [] : await askPrepared<ListedRow>(db, inOrder);
  return rows.length > 0 ? rows : askPrepared<ListedRow>(db, listStatement(tenant, options, range));
}

/** The total is unknown for entries that were not searched, or counted only up to a bound. */
const totalOf = (row: ListedRow | undefined): number | null =>
  row === undefined || row.counted === null ? null : Number(row.counted);

/** If several statuses are searched, none may be searched beyond the first bound among them. */
async function findEnd(db: Knex, tenant: string, options: JobListOptions, range: ListRange): Promise<RangeEnd | null> {
  const rows = await askPrepared<{ value: Date | null; id: string }>(db, endStatement(tenant, options, range));
  const ends = rows.map(({ value, id }) => ({ [options.sortBy]: value === null ? null : toInstant(value), id }));
  const [first] = (ends as Sorted[]).sort(inOrder(options));
  return first === undefined ? null : { value: first[options.sortBy], id: first.id };
}

type Sorted = Pick<JobRecord, "id" | "createdAt" | "completedAt">;

/** The order of the databases: NULL is the smallest value, and no two jobs tie. */
function inOrder({ sortBy, order }: JobOrder): (one: Sorted, other: Sorted) => number {
  const first = order === "asc" ? -1 : 1;
  const isBefore = (one: Sorted, other: Sorted): boolean => {
    const [a, b] = [one[sortBy] ?? "", other[sortBy] ?? ""];
    return a === b ? one.id < other.id : a < b;
  };
  return (one, other) => (isBefore(one, other) ? first : -first);
}
