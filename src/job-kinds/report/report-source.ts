import type { JobRecord } from "../../domain/job/job-record.ts";
import type { Instant } from "../../domain/message.ts";
import type { ReportFormat, ReportOf } from "../../domain/result/events.ts";
import type { StoredEvent, TenantEvent } from "../../event-log/event-log.ts";

/** The request of a report job. Times are when a job was created, an attempt ended, or an event happened. */
export type ReportRequest = {
  readonly of: ReportOf;
  readonly format: ReportFormat;
  /** Inclusive; null for the beginning. */
  readonly from: Instant | null;
  /** Exclusive; null for the moment at which the report begins. */
  readonly to: Instant | null;
};

/** The rows of a report: those of one tenant, between two times, as they were when its run began. */
export type ReportSpan = {
  readonly tenant: string;
  /** Inclusive; null for the beginning. */
  readonly from: Instant | null;
  /** Exclusive; null for everything that existed when the run began. */
  readonly to: Instant | null;
  /** The position in the log at which the run began: no attempt of the run includes anything later, whatever its time. */
  readonly began: { readonly sequence: number };
};

/** A row, and the cursor at which reading continues after it. */
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

/** The source of a report's rows. */
export interface ReportSource<Row> {
  /**
   * Whether everything up to a sequence of the log can be read: the report must include what the caller did before it.
   * Waits some seconds for that. Throws SourceUnavailable.
   */
  reaches(sequence: number): Promise<boolean>;

  /**
   * The rows of a span after a cursor, each once and always in the same order, page by page, each page read on demand.
   * Pages may be empty. Throws SourceUnavailable, or Unavailable where the source is the log.
   */
  read(span: ReportSpan, after: string | null, signal: AbortSignal): AsyncIterable<readonly ReportRow<Row>[]>;
}

export type ReportSources = {
  readonly jobs: ReportSource<JobRecord>;
  readonly logs: ReportSource<LoggedOutcome>;
  readonly events: ReportSource<StoredEvent<TenantEvent>>;
};

/** The source of the rows is away: the job is not at fault, and a later attempt can succeed. */
export class SourceUnavailable extends Error {
  override readonly name = "SourceUnavailable";
}
