import type { JobRecord } from "../../domain/job/job-record.ts";
import type { Instant } from "../../domain/message.ts";
import type { ReportFormat, ReportOf } from "../../domain/result/events.ts";
import type { StoredEvent } from "../../event-log/event-log.ts";

/** What a report job was asked for. Times are of when a job was created, an attempt ended, an event happened. */
export type ReportRequest = {
  readonly of: ReportOf;
  readonly format: ReportFormat;
  /** Included; null for the beginning. */
  readonly from: Instant | null;
  /** Not included any more; null for the moment at which the report begins. */
  readonly to: Instant | null;
};

/** Which rows a report holds: those of one tenant, between two times, as they were when its run began. */
export type ReportSpan = {
  readonly tenant: string;
  /** Included; null for the beginning. */
  readonly from: Instant | null;
  /** Not included any more; null for all there was when the run began. */
  readonly to: Instant | null;
  /** The place in the log, and the time, at which the run began: what came later is in no attempt of it. */
  readonly began: { readonly sequence: number; readonly at: Instant };
};

/** A row, and the cursor by which reading goes on after it. */
export type ReportRow<Row> = { readonly cursor: string; readonly row: Row };

/** One attempt to send to one recipient: a line of the job's log. */
export type LoggedOutcome = {
  readonly id: string;
  readonly jobId: string;
  readonly recipient: number;
  readonly email: string | null;
  readonly status: string;
  readonly run: number;
  readonly attempt: number;
  readonly sentAt: Instant | null;
  readonly createdAt: Instant;
  readonly messageId: string | null;
  readonly response: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

/** Where the rows of a report come from. */
export interface ReportSource<Row> {
  /**
   * Whether everything up to a sequence of the log can be read: what was asked for before the report must be in it.
   * Waits some seconds for it. Throws SourceUnavailable.
   */
  reaches(sequence: number): Promise<boolean>;

  /**
   * The rows of a span after a cursor, each once and always in the same order, a page at a time: the next one is read
   * when it is asked for. Pages may be empty. Throws SourceUnavailable, or Unavailable where it reads the log.
   */
  read(span: ReportSpan, after: string | null, signal: AbortSignal): AsyncIterable<readonly ReportRow<Row>[]>;
}

export type ReportSources = {
  readonly jobs: ReportSource<JobRecord>;
  readonly logs: ReportSource<LoggedOutcome>;
  readonly events: ReportSource<StoredEvent>;
};

/** The source of the rows is away: the job is not at fault, and a later attempt can succeed. */
export class SourceUnavailable extends Error {
  override readonly name = "SourceUnavailable";
}
