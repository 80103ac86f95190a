import type { JobStatus } from "../../src/domain/job/job-view.ts";
import { toDate } from "../instants.ts";
import type { JobCursor } from "./cursor.ts";
import type { JobListOptions } from "./list-options.ts";
import { jobTables } from "./tables.ts";

export type Statement = { readonly sql: string; readonly bindings: readonly unknown[] };

const table = `\`${jobTables("").jobs}\``;
const columnOf = { createdAt: "created_at", completedAt: "completed_at" } as const;
const keyOf = {
  createdAt: { any: "by_creation", one: "by_status_and_creation" },
  completedAt: { any: "by_completion", one: "by_status_and_completion" },
} as const;

/**
 * One row more than the page holds tells whether there is a next one. For several statuses each is read by itself, in
 * the order of the list, so that every part is a few entries of an index, however rare a status is. Whole rows are
 * fetched only for the page: one far from the first passes over entries of an index.
 *
 * The index is named because an optimizer that is left to itself compares what comes after the cursor with a scan of
 * the whole table, as if there were no limit, and MariaDB then walks through all that comes before the cursor.
 */
export function pageStatement(tenant: string, options: JobListOptions, cursor: JobCursor | null): Statement {
  const { statuses, sortBy, order, page, pageSize } = options;
  const column = columnOf[sortBy];
  const ordering = `ORDER BY ${column} ${order}, id ${order}`;
  const offset = cursor === null ? (page - 1) * pageSize : 0;
  const parts = anyOf(statuses).map((status) => {
    const { sql, bindings } = allOf([...conditions(tenant, options), ...oneStatus(status), ...after(cursor)]);
    const key = keyOf[sortBy][status === null ? "any" : "one"];
    // Where all are NULL, MariaDB would sort them by it all the same.
    const itsOrdering = isAmongUnended(cursor) ? `ORDER BY id ${order}` : ordering;
    return { sql: `SELECT id, ${column} FROM ${table} FORCE INDEX (${key}) WHERE ${sql} ${itsOrdering}`, bindings };
  });
  const { sql, bindings } = together(parts, ordering, offset + pageSize + 1);
  return {
    sql: `
      SELECT job.* FROM (${sql} LIMIT ? OFFSET ?) AS page JOIN ${table} AS job ON job.id = page.id
      ORDER BY job.${column} ${order}, job.id ${order}`,
    bindings: [...bindings, pageSize + 1, offset],
  };
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

export function countStatement(tenant: string, options: JobListOptions): Statement {
  const { statuses } = options;
  const ofStatuses: readonly Statement[] =
    statuses.length === 0 ? [] : [{ sql: "status IN (?)", bindings: [statuses] }];
  const { sql, bindings } = allOf([...conditions(tenant, options), ...ofStatuses]);
  return { sql: `SELECT COUNT(*) AS total FROM ${table} WHERE ${sql}`, bindings };
}

function conditions(tenant: string, { type, createdAfter, createdBefore, q }: JobListOptions): readonly Statement[] {
  return [
    { sql: "tenant = ?", bindings: [tenant] },
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

/**
 * What comes after the last row of the page before. Both databases sort NULL as the smallest value, and so does this:
 * jobs that have not ended are first by completion ascending and last descending, among themselves by id.
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
  const unended = cursor.order === "desc" && cursor.sortBy === "completedAt" ? ` OR ${column} IS NULL` : "";
  return [
    {
      sql: `(${column} ${beyond} ? OR (${column} = ? AND id ${beyond} ?)${unended})`,
      bindings: [value, value, cursor.id],
    },
  ];
}

const allOf = (parts: readonly Statement[]): Statement => ({
  sql: parts.map(({ sql }) => sql).join(" AND "),
  bindings: parts.flatMap(({ bindings }) => bindings),
});
