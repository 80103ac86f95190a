import type { Statement } from "../../src/database/prepared.ts";
import type { JobStatus } from "../../src/domain/job/job-view.ts";
import { checkpointTable } from "../following/checkpoint.ts";
import { toDate } from "../instants.ts";
import type { JobCursor, JobListOptions } from "./list-options.ts";
import { recordColumns } from "./rows.ts";
import { boundOf, type RangeEnd, type SearchBounds, upTo } from "./search-range.ts";
import { jobTables } from "./tables.ts";

const table = `\`${jobTables("").jobs}\``;
const counts = `\`${jobTables("").counts}\``;
const checkpoint = `\`${checkpointTable("jobs")}\``;
export const recordOf = (alias: string): string => recordColumns.map((column) => `${alias}.\`${column}\``).join(", ");

const columnOf = { createdAt: "created_at", completedAt: "completed_at" } as const;
const keyOf = {
  createdAt: { any: "by_creation", one: "by_status_and_creation" },
  completedAt: { any: "by_completion", one: "by_status_and_completion" },
} as const;

/** A mailing has some thousand parts at most: they are sorted, if need be. */
const indexOf = (
  { mailing }: Pick<JobListOptions, "mailing">,
  sortBy: keyof typeof keyOf,
  statuses: "any" | "one",
): string => (mailing === null ? keyOf[sortBy][statuses] : "by_mailing");

export type ListRange = {
  /** The position that the page begins after; null for the first page. */
  readonly cursor: JobCursor | null;
  /** The last entry that is searched; null if all of them are. */
  readonly end: RangeEnd | null;
  readonly bounds: SearchBounds;
};

/**
 * A page in one statement, so that rows, checkpoint and total are of the same moment. There is always a row: for an
 * empty page it has no id. The rows are unordered: sorting them with their text columns would need a temporary table on
 * disk.
 */
export function listStatement(tenant: string, options: JobListOptions, range: ListRange): Statement {
  const total = countedStatement(tenant, options, range);
  const page = pageStatement(tenant, options, range);
  return {
    sql: `
      SELECT checkpoint.sequence AS read_sequence, ${total.sql} AS counted, ${recordOf("job")}
      FROM ${checkpoint} AS checkpoint LEFT JOIN (${page.sql}) AS page ON TRUE
      LEFT JOIN ${table} AS job ON job.id = page.id WHERE checkpoint.id = 1`,
    bindings: [...total.bindings, ...page.bindings],
  };
}

/**
 * The same page, for a range of one index from its first entry on: its rows are read in the order of the index, without a
 * table of their ids between, which takes the database a quarter less time. An empty page has no row, so nothing says
 * of which moment it is. Null for all other pages.
 */
export function inOrderStatement(tenant: string, options: JobListOptions, range: ListRange): Statement | null {
  const { statuses, mailing, q } = options;
  const [status = null, ...others] = statuses;
  const isSorted = others.length === 0 && mailing === null && q === null;
  if (!isSorted || skippedBefore(options, range) > 0) return null;
  const total = countedStatement(tenant, options, range);
  const moment = `(SELECT sequence FROM ${checkpoint} WHERE id = 1) AS read_sequence, ${total.sql} AS counted`;
  const part = partStatement(tenant, options, range, status, `${moment}, ${recordOf(table)}`);
  return { sql: `${part.sql} LIMIT ?`, bindings: [...total.bindings, ...part.bindings, options.pageSize + 1] };
}

/** Counting the matches of a text means to search everything; every other total is stored, or counted up to a bound. */
const countedStatement = (tenant: string, options: JobListOptions, { cursor, end, bounds }: ListRange): Statement =>
  cursor === null && (end === null || options.q === null)
    ? totalStatement(tenant, options, bounds)
    : { sql: "NULL", bindings: [] };

const skippedBefore = ({ page, pageSize }: JobListOptions, { cursor }: ListRange): number =>
  cursor === null ? (page - 1) * pageSize : 0;

/**
 * Reads one entry more than the page holds, which shows whether there is a next page. For several statuses each is read
 * separately, in the order of the list, so that every part is a few entries of an index, however rare a status is.
 * Whole rows are fetched only for the page: a page far from the first skips entries of an index.
 */
function pageStatement(tenant: string, options: JobListOptions, range: ListRange): Statement {
  const { statuses, sortBy, order, pageSize } = options;
  const column = columnOf[sortBy];
  const offset = skippedBefore(options, range);
  const parts = anyOf(statuses).map((status) => partStatement(tenant, options, range, status, `id, ${column}`));
  const { sql, bindings } = together(parts, `ORDER BY ${column} ${order}, id ${order}`, offset + pageSize + 1);
  return { sql: `${sql} LIMIT ? OFFSET ?`, bindings: [...bindings, pageSize + 1, offset] };
}

/**
 * The entries of one status, or of any, in the order of the list. The index is named because an optimizer left alone
 * compares the range after the cursor with a scan of the whole table, as if there were no limit, and MariaDB then walks
 * through everything before the cursor.
 */
function partStatement(
  tenant: string,
  options: JobListOptions,
  { cursor, end }: ListRange,
  status: JobStatus | null,
  columns: string,
): Statement {
  const { sortBy, order } = options;
  const range = [...after(cursor), ...(end === null ? [] : [upTo(end, options)])];
  const { sql, bindings } = allOf([...conditions(tenant, options), ...oneStatus(status), ...range]);
  const key = indexOf(options, sortBy, status === null ? "any" : "one");
  // If all values are NULL, MariaDB would still sort by them.
  const ordering = isAmongUnended(cursor) ? `id ${order}` : `${columnOf[sortBy]} ${order}, id ${order}`;
  return { sql: `SELECT ${columns} FROM ${table} FORCE INDEX (${key}) WHERE ${sql} ORDER BY ${ordering}`, bindings };
}

const anyOf = (statuses: readonly JobStatus[]): readonly (JobStatus | null)[] =>
  statuses.length === 0 ? [null] : [...new Set(statuses)];

const isAmongUnended = (cursor: JobCursor | null): boolean => cursor?.value === null && cursor.order === "desc";

function together(parts: readonly Statement[], ordering: string, limit: number): Statement {
  const [first, ...rest] = parts;
  if (first !== undefined && rest.length === 0) return first;
  return {
    sql: `${parts.map(({ sql }) => `(${sql} LIMIT ?)`).join(" UNION ALL ")} ${ordering}`,
    bindings: parts.flatMap(({ bindings }) => [...bindings, limit]),
  };
}

/**
 * The entry at which a search reaches its bound: a row `value`, `id` for each status that is searched, none if there
 * are fewer entries. A filter that no index is sorted by is left out, or the search would have no bound.
 */
export function endStatement(tenant: string, options: JobListOptions, { cursor, bounds }: ListRange): Statement {
  const { statuses, sortBy, order } = options;
  const column = columnOf[sortBy];
  const searched = anyOf(statuses);
  const offset = Math.ceil(boundOf(options, bounds) / searched.length) - 1;
  const inIndex = { ...options, q: null, type: null };
  const indexed = sortBy === "createdAt" ? inIndex : { ...inIndex, createdAfter: null, createdBefore: null };
  const ordering = isAmongUnended(cursor) ? `id ${order}` : `${column} ${order}, id ${order}`;
  const parts = searched.map((status) => {
    const { sql, bindings } = allOf([...conditions(tenant, indexed), ...oneStatus(status), ...after(cursor)]);
    const key = indexOf(options, sortBy, status === null ? "any" : "one");
    const from = `FROM ${table} FORCE INDEX (${key}) WHERE ${sql} ORDER BY ${ordering} LIMIT 1 OFFSET ?`;
    return { sql: `(SELECT ${column} AS value, id ${from})`, bindings: [...bindings, offset] };
  });
  return { sql: parts.map(({ sql }) => sql).join(" UNION ALL "), bindings: parts.flatMap(({ bindings }) => bindings) };
}

/**
 * Reads the stored count if one exists for all the filters of the list. A search over all entries counts its matches;
 * between two instants, jobs are counted up to a bound, and NULL is more than that.
 */
function totalStatement(tenant: string, options: JobListOptions, bounds: SearchBounds): Statement {
  const { statuses, type, mailing, createdAfter, createdBefore, q } = options;
  const { sql, bindings } = allOf([...conditions(tenant, options), ...someStatuses(statuses)]);
  if (mailing !== null)
    return { sql: `(SELECT COUNT(*) FROM ${table} FORCE INDEX (by_mailing) WHERE ${sql})`, bindings };
  if (createdAfter === null && createdBefore === null && q === null) {
    return { sql: `(SELECT COALESCE(SUM(jobs), 0) FROM ${counts} WHERE ${sql})`, bindings };
  }
  const key = keyOf.createdAt[statuses.length === 0 ? "any" : "one"];
  // The searched columns are in the first of these indexes; the optimizer would rather read every row of the tenant.
  if (q !== null) return { sql: `(SELECT COUNT(*) FROM ${table} FORCE INDEX (${key}) WHERE ${sql})`, bindings };
  const untyped = allOf([...conditions(tenant, { ...options, type: null }), ...someStatuses(statuses)]);
  const limit = type === null ? bounds.inIndex : bounds.inRows;
  const [column, counted] = type === null ? ["1 AS one", "COUNT(*)"] : ["type", "COALESCE(SUM(type = ?), 0)"];
  const some = `SELECT ${column} FROM ${table} FORCE INDEX (${key}) WHERE ${untyped.sql} LIMIT ?`;
  return {
    sql: `(SELECT IF(COUNT(*) > ?, NULL, ${counted}) FROM (${some}) AS some)`,
    bindings: [limit, ...(type === null ? [] : [type]), ...untyped.bindings, limit + 1],
  };
}

function conditions(
  tenant: string,
  { type, mailing, createdAfter, createdBefore, q }: JobListOptions,
): readonly Statement[] {
  return [
    { sql: "tenant = ?", bindings: [tenant] },
    ...(mailing === null ? [] : [{ sql: "mailing_id = ?", bindings: [mailing] }]),
    ...(type === null ? [] : [{ sql: "type = ?", bindings: [type] }]),
    ...(createdAfter === null ? [] : [{ sql: "created_at > ?", bindings: [toDate(createdAfter)] }]),
    ...(createdBefore === null ? [] : [{ sql: "created_at < ?", bindings: [toDate(createdBefore)] }]),
    ...(q === null ? [] : [contains(q)]),
  ];
}

function contains(q: string): Statement {
  const pattern = `%${q.replace(/[!%_]/g, "!$&")}%`;
  return { sql: "(subject LIKE ? ESCAPE '!' OR name LIKE ? ESCAPE '!')", bindings: [pattern, pattern] };
}

const oneStatus = (status: JobStatus | null): readonly Statement[] =>
  status === null ? [] : [{ sql: "status = ?", bindings: [status] }];

const someStatuses = (statuses: readonly JobStatus[]): readonly Statement[] =>
  statuses.length === 0 ? [] : [{ sql: `status IN (${statuses.map(() => "?").join(", ")})`, bindings: statuses }];

/**
 * The rows after the last row of the previous page. Both databases sort NULL as the smallest value, and so does this:
 * jobs that have not ended come first by completion ascending and last descending, ordered by id among themselves.
 */
function after(cursor: JobCursor | null): readonly Statement[] {
  if (cursor === null) return [];
  const column = columnOf[cursor.sortBy];
  const beyond = cursor.order === "asc" ? ">" : "<";
  if (cursor.value === null) {
    const sql = `${column} IS NULL AND id ${beyond} ?`;
    return [{ sql: cursor.order === "asc" ? `((${sql}) OR ${column} IS NOT NULL)` : sql, bindings: [cursor.id] }];
  }
  const value = toDate(cursor.value);
  // One range of the index; with an OR the optimizer would look for both.
  const rest = `${column} ${beyond}= ? AND (${column} ${beyond} ? OR id ${beyond} ?)`;
  const isWithUnended = cursor.order === "desc" && cursor.sortBy === "completedAt";
  return [{ sql: isWithUnended ? `((${rest}) OR ${column} IS NULL)` : rest, bindings: [value, value, cursor.id] }];
}

const allOf = (parts: readonly Statement[]): Statement => ({
  sql: parts.map(({ sql }) => sql).join(" AND "),
  bindings: parts.flatMap(({ bindings }) => bindings),
});
