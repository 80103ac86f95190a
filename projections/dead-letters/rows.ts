import type { DeadLetter, DeadLetterRecord } from "../../src/domain/job/dead-letter.ts";
import type { JobLabels } from "../../src/domain/job/job-record.ts";
import { toDate, toDateOrNull, toInstant, toInstantOrNull } from "../instants.ts";

export type LetterRow = {
  readonly job_id: string;
  readonly run: number;
  readonly tenant: string;
  readonly sequence: number;
  readonly type: DeadLetterRecord["type"];
  readonly name: string | null;
  readonly subject: string | null;
  readonly attempt: number;
  readonly error_code: string;
  readonly error_message: string;
  readonly total: number;
  readonly sent: number;
  readonly failed: number;
  readonly pending: number;
  readonly deferred: number;
  readonly unknown: number;
  readonly suppressed: number;
  readonly failed_at: Date;
  readonly status: DeadLetter["status"];
  readonly requeued_as: string | null;
  readonly reason: string | null;
  readonly decided_by: string | null;
  readonly decided_at: Date | null;
};

/** A job that may yet fail. */
export type JobRow = {
  readonly job_id: string;
  readonly type: DeadLetterRecord["type"];
  readonly total: number;
};

/** What stands beside the letter itself in its row. */
export type LetterFrame = Pick<LetterRow, "job_id" | "tenant" | "sequence" | "type"> &
  Pick<JobLabels, "name" | "subject">;

export const toLetterRow = (frame: LetterFrame, letter: DeadLetter): LetterRow => ({
  job_id: frame.job_id,
  run: letter.run,
  tenant: frame.tenant,
  sequence: frame.sequence,
  type: frame.type,
  name: frame.name,
  subject: frame.subject,
  attempt: letter.attempt,
  error_code: letter.error.code,
  error_message: letter.error.message,
  ...letter.progress,
  failed_at: toDate(letter.failedAt),
  status: letter.status,
  requeued_as: letter.requeuedAs,
  reason: letter.reason,
  decided_by: letter.decidedBy,
  decided_at: toDateOrNull(letter.decidedAt),
});

export const toDeadLetter = (row: LetterRow): DeadLetterRecord => ({
  jobId: row.job_id,
  type: row.type,
  name: row.name,
  subject: row.subject,
  run: row.run,
  attempt: row.attempt,
  error: { code: row.error_code, message: row.error_message },
  progress: {
    total: row.total,
    sent: row.sent,
    failed: row.failed,
    pending: row.pending,
    deferred: row.deferred,
    unknown: row.unknown,
    suppressed: row.suppressed,
  },
  failedAt: toInstant(row.failed_at),
  status: row.status,
  requeuedAs: row.requeued_as,
  reason: row.reason,
  decidedBy: row.decided_by,
  decidedAt: toInstantOrNull(row.decided_at),
});
