import type { Statement } from "../../../src/database/prepared.ts";
import { placeOf } from "../../../src/event-log/place.ts";
import type { LoggedOutcome, ReportSpan } from "../../../src/job-kinds/report/report-source.ts";
import { toDate } from "../../instants.ts";
import { fromCursor, type ReadModelRows, toCursor } from "../../report-source.ts";
import { jobsProjector } from "../projector.ts";
import { jobTables } from "../tables.ts";
import { type LogRow, logColumns, toLogEntry } from "./log-rows.ts";

type ReportedRow = LogRow & { readonly job_id: string };

/** What happened to recipients, in the order of time, up to the sequence at which the report began. */
export const logReport: ReadModelRows<ReportedRow, LoggedOutcome> = {
  projector: jobsProjector,
  statement: (span, after, limit) => {
    const parts = [...within(span), ...(after === null ? [] : [beyond(after)])];
    const bindings = [...parts.flatMap((part) => part.bindings), limit];
    const where = parts.map(({ sql }) => sql).join(" AND ");
    return {
      sql: `
        SELECT page.*, job.id AS job_id FROM (
          (SELECT outcome.job, ${logColumns("outcome", "outcome")}
            FROM \`${recipients}\` AS outcome FORCE INDEX (by_time)
            WHERE ${where} ORDER BY outcome.at, outcome.place LIMIT ?)
          UNION ALL
          (SELECT outcome.job, ${logColumns("outcome", "recipient")}
            FROM \`${earlier}\` AS outcome FORCE INDEX (by_time)
            LEFT JOIN \`${recipients}\` AS recipient
              ON recipient.job = outcome.job AND recipient.recipient = outcome.recipient
            WHERE ${where} ORDER BY outcome.at, outcome.place LIMIT ?)
          ORDER BY at, place LIMIT ?
        ) AS page JOIN \`${jobs}\` AS job ON job.place = page.job ORDER BY page.at, page.place`,
      bindings: [...bindings, ...bindings, limit],
    };
  },
  toRow: (found) => {
    const row = { jobId: found.job_id, ...toLogEntry(found) };
    return { cursor: toCursor(row.createdAt, found.place), row };
  },
};

const { jobs, recipients, earlier } = jobTables("");

const within = ({ tenant, from, to, began }: ReportSpan): readonly Statement[] => [
  { sql: "outcome.tenant = ? AND outcome.place < ?", bindings: [tenant, placeOf({ ...began, index: 0 })] },
  // Also without a beginning: recipients that were never tried have no time, and come first in the index.
  { sql: "outcome.at >= ?", bindings: [from === null ? new Date(0) : toDate(from)] },
  ...(to === null ? [] : [{ sql: "outcome.at < ?", bindings: [toDate(to)] }]),
];

function beyond(after: string): Statement {
  const [createdAt, place] = fromCursor(after);
  const at = toDate(createdAt);
  const sql = "outcome.at >= ? AND (outcome.at > ? OR outcome.place > ?)";
  return { sql, bindings: [at, at, Number(place)] };
}
