import type { Statement } from "../../src/database/prepared.ts";
import type { LoggedOutcome, ReportSpan } from "../../src/job-kinds/report/report-source.ts";
import { toDate } from "../instants.ts";
import { fromCursor, type ReadModelRows, toCursor } from "../report-source.ts";
import { logsProjector } from "./projector.ts";
import { type LogRow, logsTable, toLogEntry } from "./rows.ts";

/** What happened to recipients, in the order of time, up to the sequence at which the report began. */
export const logReport: ReadModelRows<LogRow, LoggedOutcome> = {
  projector: logsProjector,
  statement: (span, after, limit) => {
    const parts = [...within(span), ...(after === null ? [] : [beyond(after)])];
    return {
      sql: `
        SELECT * FROM \`${logsTable("")}\` FORCE INDEX (by_time)
        WHERE ${parts.map(({ sql }) => sql).join(" AND ")} ORDER BY created_at, sequence LIMIT ?`,
      bindings: [...parts.flatMap(({ bindings }) => bindings), limit],
    };
  },
  toRow: (found) => {
    const row = { jobId: found.job_id, ...toLogEntry(found) };
    return { cursor: toCursor(row.createdAt, row.id), row };
  },
};

const within = ({ tenant, from, to, began }: ReportSpan): readonly Statement[] => [
  { sql: "tenant = ? AND sequence < ?", bindings: [tenant, began.sequence] },
  ...(from === null ? [] : [{ sql: "created_at >= ?", bindings: [toDate(from)] }]),
  ...(to === null ? [] : [{ sql: "created_at < ?", bindings: [toDate(to)] }]),
];

function beyond(after: string): Statement {
  const [createdAt, sequence] = fromCursor(after);
  const at = toDate(createdAt);
  return { sql: "(created_at > ? OR (created_at = ? AND sequence > ?))", bindings: [at, at, Number(sequence)] };
}
