import type { Instant } from "../../domain/message.ts";
import type { ReportFormat, ReportOf } from "../../domain/result/events.ts";

/** What a report job was asked for. Times are of when a job was created, an attempt ended, an event happened. */
export type ReportRequest = {
  readonly of: ReportOf;
  readonly format: ReportFormat;
  /** Included; null for the beginning. */
  readonly from: Instant | null;
  /** Not included any more; null for the moment at which the report begins. */
  readonly to: Instant | null;
};

/** The media type of a report. The header parameter is that of RFC 4180. */
export const mediaTypeOf = (format: ReportFormat): string =>
  format === "csv" ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson";

export const fileNameOf = (of: ReportOf, format: ReportFormat, jobId: string): string => `${of}-${jobId}.${format}`;
