import type { Statement } from "../../src/database/prepared.ts";
import type { JobRecord } from "../../src/domain/job/job-record.ts";
import { placeOf } from "../../src/event-log/place.ts";
import type { ReportSpan } from "../../src/job-kinds/report/report-source.ts";
import { toDate } from "../instants.ts";
import { fromCursor, type ReadModelRows, toCursor } from "../report-source.ts";
import { recordOf } from "./list-statements.ts";
import { jobsProjector } from "./projector.ts";
import { type JobRecordRow, toJobRecord } from "./rows.ts";
import { jobTables } from "./tables.ts";

/**
 * Jobs in the order of their creation, each in its state at the time of reading. Jobs of the tenant that were created
 * after the report began are not included, even if `to` is later. The log says which those are: clocks differ.
 */
export const jobReport: ReadModelRows<JobRecordRow, JobRecord> = {
  projector: jobsProjector,
  statement: (span, after, limit) => {
    const parts = [...within(span), ...(after === null ? [] : [beyond(after)])];
    return {
      // The index is named for the reason given in list-statements.ts.
      sql: `
        SELECT ${recordOf("job")} FROM \`${jobTables("").jobs}\` AS job FORCE INDEX (by_creation)
        WHERE ${parts.map(({ sql }) => sql).join(" AND ")} ORDER BY job.created_at, job.id LIMIT ?`,
      bindings: [...parts.flatMap(({ bindings }) => bindings), limit],
    };
  },
  toRow: (found) => {
    const row = toJobRecord(found);
    return { cursor: toCursor(row.createdAt, row.id), row };
  },
};

const within = ({ tenant, from, to, began }: ReportSpan): readonly Statement[] => [
  { sql: "job.tenant = ? AND job.place < ?", bindings: [tenant, placeOf({ ...began, index: 0 })] },
  ...(from === null ? [] : [{ sql: "job.created_at >= ?", bindings: [toDate(from)] }]),
  ...(to === null ? [] : [{ sql: "job.created_at < ?", bindings: [toDate(to)] }]),
];

function beyond(after: string): Statement {
  const [createdAt, id] = fromCursor(after);
  const at = toDate(createdAt);
  return { sql: "(job.created_at > ? OR (job.created_at = ? AND job.id > ?))", bindings: [at, at, id] };
}
