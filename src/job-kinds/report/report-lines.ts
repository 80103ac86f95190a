import type { JobRecord } from "../../domain/job/job-record.ts";
import type { ReportFormat } from "../../domain/result/events.ts";
import type { StoredEvent } from "../../event-log/event-log.ts";
import { toEventAnswer } from "../../history/event-answer.ts";
import { type Cell, toCsvRecord } from "../../schemas/csv.ts";
import type { LoggedOutcome, ReportRequest, ReportSource, ReportSources, ReportSpan } from "./report-source.ts";

/** One row as it stands in the file, its line end included. */
export type ReportLine = { readonly cursor: string; readonly text: string };

export type ReportLines = {
  /** What stands before the first row; empty where nothing does. */
  readonly head: string;
  read(span: ReportSpan, after: string | null, signal: AbortSignal): AsyncIterable<readonly ReportLine[]>;
  reaches(sequence: number): Promise<boolean>;
};

/** The rows that a report asks for, in the form that it asks for. */
export function linesOf({ of, format }: ReportRequest, sources: ReportSources): ReportLines {
  switch (of) {
    case "jobs":
      return toLines(sources.jobs, jobForm, format);
    case "logs":
      return toLines(sources.logs, logForm, format);
    case "events":
      return toLines(sources.events, eventForm, format);
  }
}

/** How a row is written: as fields in the order of the columns, and as one JSON object. */
type Form<Row> = {
  readonly columns: Readonly<Record<string, (row: Row) => Cell>>;
  readonly toObject: (row: Row) => object;
};

function toLines<Row>(source: ReportSource<Row>, { columns, toObject }: Form<Row>, format: ReportFormat): ReportLines {
  const cells = Object.values(columns);
  const toText =
    format === "csv"
      ? (row: Row) => toCsvRecord(cells.map((cellOf) => cellOf(row)))
      : (row: Row) => `${JSON.stringify(toObject(row))}\n`;
  return {
    head: format === "csv" ? toCsvRecord(Object.keys(columns)) : "",
    reaches: source.reaches,
    read: async function* (span, after, signal) {
      for await (const page of source.read(span, after, signal)) {
        yield page.map(({ cursor, row }) => ({ cursor, text: toText(row) }));
      }
    },
  };
}

const jobForm: Form<JobRecord> = {
  columns: {
    id: ({ id }) => id,
    type: ({ type }) => type,
    name: ({ name }) => name,
    status: ({ status }) => status,
    priority: ({ priority }) => priority,
    subject: ({ subject }) => subject,
    total: ({ progress }) => progress.total,
    sent: ({ progress }) => progress.sent,
    failed: ({ progress }) => progress.failed,
    pending: ({ progress }) => progress.pending,
    deferred: ({ progress }) => progress.deferred,
    unknown: ({ progress }) => progress.unknown,
    suppressed: ({ progress }) => progress.suppressed,
    attempt: ({ attempt }) => attempt,
    maxAttempts: ({ maxAttempts }) => maxAttempts,
    createdAt: ({ createdAt }) => createdAt,
    scheduledAt: ({ scheduledAt }) => scheduledAt,
    startedAt: ({ startedAt }) => startedAt,
    completedAt: ({ completedAt }) => completedAt,
    nextAttemptAt: ({ nextAttemptAt }) => nextAttemptAt,
    errorCode: ({ error }) => error?.code ?? null,
    errorMessage: ({ error }) => error?.message ?? null,
    requeueOf: ({ requeueOf }) => requeueOf,
    metadata: ({ metadata }) => JSON.stringify(metadata),
  },
  toObject: (job) => job,
};

const logForm: Form<LoggedOutcome> = {
  columns: {
    id: ({ id }) => id,
    jobId: ({ jobId }) => jobId,
    recipient: ({ recipient }) => recipient,
    email: ({ email }) => email,
    status: ({ status }) => status,
    run: ({ run }) => run,
    attempt: ({ attempt }) => attempt,
    sentAt: ({ sentAt }) => sentAt,
    createdAt: ({ createdAt }) => createdAt,
    messageId: ({ messageId }) => messageId,
    response: ({ response }) => response,
    errorCode: ({ error }) => error?.code ?? null,
    errorMessage: ({ error }) => error?.message ?? null,
  },
  toObject: (outcome) => outcome,
};

const eventForm: Form<StoredEvent> = {
  columns: {
    sequence: ({ sequence }) => sequence,
    type: ({ event }) => event.type,
    time: ({ event }) => event.at,
    jobId: ({ jobId }) => jobId,
    tenant: ({ tenant }) => tenant,
    actor: ({ actor }) => actor,
    traceparent: ({ traceparent }) => traceparent,
    data: ({ event }) => JSON.stringify(event.data),
  },
  toObject: toEventAnswer,
};
