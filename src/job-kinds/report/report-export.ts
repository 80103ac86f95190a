import { Type } from "typebox";
import type { ReportFormat } from "../../domain/result/events.ts";
import { type Fault, faultAt, shown } from "../../schemas/fault.ts";
import { toInstant } from "../../schemas/instant.ts";
import { isObject } from "../../schemas/request-form.ts";
import { closed } from "../../schemas/request-schema.ts";
import { jobKind } from "../job-kind.ts";
import type { ReportRequest } from "./report-source.ts";
import { createReportWork } from "./report-work.ts";

const time = Type.String({ format: "date-time", description: "a time such as 2026-11-21T09:30:00.000Z" });

const payload = Type.Object(
  {
    of: Type.Enum(["jobs", "logs", "events"], { description: "one of jobs, logs, events" }),
    format: Type.Enum(["csv", "ndjson"], { description: "one of csv, ndjson" }),
    from: Type.Optional(time),
    to: Type.Optional(time),
  },
  { ...closed, description: "an object with of and format" },
);

const instantOf = (text: unknown): string | null => (typeof text === "string" ? toInstant(text) : null);

/** The header parameter is that of RFC 4180. */
const mediaTypes: Readonly<Record<ReportFormat, string>> = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson",
};

/** Such a report would be empty, which is hardly what the caller meant. */
function emptySpan(body: Readonly<Record<string, unknown>>): readonly Fault[] {
  const asked = body["payload"];
  if (!isObject(asked)) return [];
  const [from, to] = [instantOf(asked["from"]), instantOf(asked["to"])];
  if (from === null || to === null || from < to) return [];
  return [faultAt("/payload/to", `is ${shown(to)}; expected a time after from`)];
}

/** A tenant's data in the service over a span of time, as one file. */
export const reportExport = jobKind({
  type: "report.export",
  fields: { payload },
  recipients: null,
  example: { type: "report.export", payload: { of: "logs", format: "csv", from: "2026-11-01T00:00:00.000Z" } },
  contradictions: emptySpan,
  toContent: ({ payload: { of, format, from, to } }) => {
    const report: ReportRequest = { of, format, from: instantOf(from), to: instantOf(to) };
    return { payload: report };
  },
  file: ({ of, format }, jobId) => ({
    name: `${of}-${jobId}.${format}`,
    mediaType: mediaTypes[format],
    // A report of events shows the log itself.
    scope: of === "events" ? "events:read" : null,
  }),
  createWork: ({ contentStore, reports }) => createReportWork({ contentStore, ...reports }),
});
