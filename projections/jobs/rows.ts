import type { JobError, JobSettings } from "../../src/domain/job/events.ts";
import type { JobLabels, JobRecord } from "../../src/domain/job/job-record.ts";
import { type JobView, type Progress, progressOf } from "../../src/domain/job/job-view.ts";
import type { Instant } from "../../src/domain/message.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { toDate, toDateOrNull, toInstant, toInstantOrNull } from "../instants.ts";
import { cellsIn, rowsIn, toStoredCells } from "./stored-cells.ts";

/** A job while its events are folded: `view` is the fold so far, `lastSequence` the last event folded into it. */
export type ProjectedJob = JobRef & {
  /** That of its JobCreated event. */
  readonly place: number;
  readonly labels: JobLabels;
  readonly view: JobView;
  /** 1 for each recipient that has a row of its own. */
  readonly hasRow: Uint8Array;
  readonly runBeganAt: Instant;
  /** Also a time that is still to come; null for a job that does not wait for a worker. */
  readonly waitingSince: Instant | null;
  readonly lastSequence: number;
  /** That of its last outcome that counts; 0 before the first. */
  readonly outcomeSequence: number;
};

export type JobRow = {
  readonly id: string;
  readonly tenant: string;
  readonly type: JobSettings["type"];
  readonly status: JobView["status"];
  readonly priority: JobSettings["priority"];
  readonly name: string | null;
  readonly subject: string | null;
  readonly metadata: string;
  readonly run: number;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly total: number;
  readonly sent: number;
  readonly failed: number;
  readonly pending: number;
  readonly deferred: number;
  readonly unknown: number;
  readonly suppressed: number;
  readonly bounced: number;
  readonly complained: number;
  readonly duplicates: number;
  readonly content_sha256: string;
  readonly request_sha256: string | null;
  readonly on_unknown: JobSettings["onUnknown"];
  readonly requeue_of: string | null;
  readonly mailing_id: string | null;
  readonly group_sha256: string | null;
  readonly retry_delay_ms: number | null;
  readonly created_at: Date;
  readonly scheduled_at: Date | null;
  readonly not_after: Date | null;
  readonly started_at: Date | null;
  readonly completed_at: Date | null;
  readonly next_attempt_at: Date | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly place: number;
  readonly last_sequence: number;
  readonly outcome_sequence: number;
};

/** The columns that a JobRecord is made of. */
export const recordColumns = [
  "id",
  "type",
  "status",
  "priority",
  "name",
  "subject",
  "metadata",
  "attempt",
  "max_attempts",
  "total",
  "sent",
  "failed",
  "pending",
  "deferred",
  "unknown",
  "suppressed",
  "bounced",
  "complained",
  "created_at",
  "scheduled_at",
  "started_at",
  "completed_at",
  "next_attempt_at",
  "error_code",
  "error_message",
  "requeue_of",
  "mailing_id",
] as const satisfies readonly (keyof JobRow)[];

export type JobRecordRow = Pick<JobRow, (typeof recordColumns)[number]>;

export type LedgerRow = {
  readonly job_id: string;
  readonly tenant: string;
  readonly run: number;
  readonly run_began_at: Date;
  readonly cells: Buffer;
  readonly feedback: Buffer | null;
};

export function toJobRow(job: ProjectedJob): JobRow {
  const { jobId, tenant, labels, view, place, lastSequence, outcomeSequence } = job;
  const { settings } = view;
  return {
    id: jobId,
    tenant,
    type: settings.type,
    status: view.status,
    priority: settings.priority,
    name: labels.name,
    subject: labels.subject,
    metadata: JSON.stringify(labels.metadata),
    run: view.run,
    attempt: view.attempt,
    max_attempts: settings.maxAttempts,
    ...progressOf(view),
    duplicates: settings.duplicates,
    content_sha256: settings.contentSha256,
    request_sha256: settings.requestSha256,
    on_unknown: settings.onUnknown,
    requeue_of: settings.requeueOf,
    mailing_id: settings.mailingId ?? null,
    group_sha256: settings.groupSha256,
    retry_delay_ms: settings.retryDelayMs,
    created_at: toDate(view.createdAt),
    scheduled_at: toDateOrNull(settings.scheduledAt),
    not_after: toDateOrNull(settings.notAfter),
    started_at: toDateOrNull(view.startedAt),
    completed_at: toDateOrNull(view.completedAt),
    next_attempt_at: toDateOrNull(view.nextAttemptAt),
    error_code: view.error?.code ?? null,
    error_message: view.error?.message ?? null,
    place,
    last_sequence: lastSequence,
    outcome_sequence: outcomeSequence,
  };
}

export const toLedgerRow = ({ jobId, tenant, view, runBeganAt, hasRow }: ProjectedJob): LedgerRow => ({
  job_id: jobId,
  tenant,
  run: view.ledger.run,
  run_began_at: toDate(runBeganAt),
  cells: toStoredCells(view.ledger.cells, hasRow),
  feedback: view.feedback === null ? null : Buffer.from(view.feedback),
});

/** Restores the job as it was when its rows were written, so that the fold can continue. */
export const toProjectedJob = (
  row: JobRow,
  ledger: Pick<LedgerRow, "run" | "run_began_at" | "cells" | "feedback">,
  waitingSince: Date | null,
): ProjectedJob => ({
  jobId: row.id,
  tenant: row.tenant,
  place: Number(row.place),
  labels: labelsOf(row),
  view: {
    settings: settingsOf(row, ledger.cells.length),
    status: row.status,
    run: row.run,
    attempt: row.attempt,
    createdAt: toInstant(row.created_at),
    startedAt: toInstantOrNull(row.started_at),
    completedAt: toInstantOrNull(row.completed_at),
    nextAttemptAt: toInstantOrNull(row.next_attempt_at),
    error: errorOf(row),
    ledger: { run: ledger.run, cells: cellsIn(ledger.cells) },
    feedback: ledger.feedback === null ? null : new Uint8Array(ledger.feedback),
    // A count without a cell belongs to a row of the file that the job makes.
    rows: row.total - ledger.cells.length,
  },
  hasRow: rowsIn(ledger.cells),
  runBeganAt: toInstant(ledger.run_began_at),
  waitingSince: toInstantOrNull(waitingSince),
  lastSequence: Number(row.last_sequence),
  outcomeSequence: Number(row.outcome_sequence),
});

export const toJobRecord = (row: JobRecordRow): JobRecord => ({
  id: row.id,
  type: row.type,
  status: row.status,
  priority: row.priority,
  ...labelsOf(row),
  progress: countsOf(row),
  attempt: row.attempt,
  maxAttempts: row.max_attempts,
  createdAt: toInstant(row.created_at),
  scheduledAt: toInstantOrNull(row.scheduled_at),
  startedAt: toInstantOrNull(row.started_at),
  completedAt: toInstantOrNull(row.completed_at),
  nextAttemptAt: toInstantOrNull(row.next_attempt_at),
  error: errorOf(row),
  requeueOf: row.requeue_of,
  mailingId: row.mailing_id,
});

const settingsOf = (row: JobRow, total: number): JobSettings => ({
  type: row.type,
  priority: row.priority,
  total,
  duplicates: row.duplicates,
  contentSha256: row.content_sha256,
  requestSha256: row.request_sha256,
  scheduledAt: toInstantOrNull(row.scheduled_at),
  notAfter: toInstantOrNull(row.not_after),
  maxAttempts: row.max_attempts,
  retryDelayMs: row.retry_delay_ms === null ? null : Number(row.retry_delay_ms),
  onUnknown: row.on_unknown,
  requeueOf: row.requeue_of,
  groupSha256: row.group_sha256,
  ...(row.mailing_id === null ? {} : { mailingId: row.mailing_id }),
});

const labelsOf = ({ name, subject, metadata }: JobRecordRow): JobLabels => ({
  name,
  subject,
  metadata: JSON.parse(metadata) as JobLabels["metadata"],
});

const countsOf = (row: JobRecordRow): Progress => ({
  total: row.total,
  sent: row.sent,
  failed: row.failed,
  pending: row.pending,
  deferred: row.deferred,
  unknown: row.unknown,
  suppressed: row.suppressed,
  bounced: row.bounced,
  complained: row.complained,
});

const errorOf = ({ error_code, error_message }: JobRecordRow): JobError | null =>
  error_code === null || error_message === null ? null : { code: error_code, message: error_message };
