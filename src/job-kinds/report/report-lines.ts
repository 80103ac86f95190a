import type { ResultChunk } from "../../content/result-store.ts";
import type { JobRecord } from "../../domain/job/job-record.ts";
import type { ReportFormat } from "../../domain/result/events.ts";
import { toEventAnswer } from "../../event-log/event-answer.ts";
import type { StoredEvent, TenantEvent } from "../../event-log/event-log.ts";
import { type Cell, toCsvRecord } from "../../schemas/csv.ts";
import type { LoggedOutcome, ReportRequest, ReportSource, ReportSources, ReportSpan } from "./report-source.ts";

/** One row as the file holds it, including its line end. */
export type ReportLine = { readonly cursor: string; readonly text: string };

export type ReportLines = {
  /** The text before the first row; empty where there is none. */
  readonly head: string;
  read(span: ReportSpan, after: string | null, signal: AbortSignal): AsyncIterable<readonly ReportLine[]>;
  reaches(sequence: number): Promise<boolean>;
};

/** The rows that a report asks for, in the format that it asks for. */
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

/** How to write a row: as fields in the order of the columns, and as one JSON object. */
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

const eventForm: Form<StoredEvent<TenantEvent>> = {
  columns: {
    sequence: ({ sequence }) => sequence,
    index: ({ index }) => index,
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

export type ChunkSizes = {
  /** A piece is closed before it grows larger than this; a piece with a single row may be larger. */
  readonly usual: number;
  readonly most: number;
};

/** A row that fits into no piece of a file. */
export class RowTooLarge extends Error {
  override readonly name = "RowTooLarge";
}

/**
 * Joins lines into pieces; the last piece is marked as such. Beyond the requested piece it reads ahead no more than the
 * rest of a page. `head` comes before the first line, in a file that begins here.
 */
export async function* chunkLines(
  pages: AsyncIterable<readonly ReportLine[]>,
  head: string,
  after: string | null,
  { usual, most }: ChunkSizes,
): AsyncGenerator<ResultChunk> {
  let parts = head === "" ? [] : [Buffer.from(head)];
  let [size, rows, cursor] = [Buffer.byteLength(head), 0, after];
  const close = (isLast: boolean): ResultChunk => {
    const chunk = { bytes: Buffer.concat(parts), rows, cursor, isLast };
    [parts, size, rows] = [[], 0, 0];
    return chunk;
  };
  for await (const page of pages) {
    for (const line of page) {
      const bytes = Buffer.from(line.text);
      if (rows > 0 && size + bytes.length > usual) yield close(false);
      if (size + bytes.length > most) throw new RowTooLarge(`A row takes ${bytes.length} bytes; at most ${most} fit.`);
      parts.push(bytes);
      [size, rows, cursor] = [size + bytes.length, rows + 1, line.cursor];
    }
  }
  yield close(true);
}
