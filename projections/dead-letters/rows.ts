import type { DeadLetter, DeadLetterRecord } from "../../src/domain/job/dead-letter.ts";
import type { JobLabels } from "../../src/domain/job/job-record.ts";
import { toDate, toDateOrNull, toInstant, toInstantOrNull } from "../instants.ts";
import type { Suffix } from "../projector.ts";

export const deadLetterTables = (suffix: Suffix) => ({
  letters: `dead_letters${suffix}`,
  counts: `dead_letters_counts${suffix}`,
  jobs: `dead_letters_jobs${suffix}`,
});

/**
 * One row for each run that failed, ordered by `sequence`, that of its JobFailed event. Name and subject are content,
 * and null if it was erased before the failure was projected.
 */
const letters = `
  job_id VARCHAR(64) NOT NULL,
  run INT NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  sequence BIGINT NOT NULL,
  type VARCHAR(32) NOT NULL,
  name VARCHAR(1000) COLLATE utf8mb4_unicode_ci NULL,
  subject VARCHAR(1000) COLLATE utf8mb4_unicode_ci NULL,
  attempt INT NOT NULL,
  error_code VARCHAR(64) NOT NULL,
  error_message MEDIUMTEXT NOT NULL,
  reply VARCHAR(500) NULL,
  cause VARCHAR(200) NOT NULL,
  total INT NOT NULL,
  sent INT NOT NULL,
  failed INT NOT NULL,
  pending INT NOT NULL,
  deferred INT NOT NULL,
  \`unknown\` INT NOT NULL,
  suppressed INT NOT NULL,
  failed_at DATETIME(3) NOT NULL,
  status VARCHAR(16) NOT NULL,
  requeued_as VARCHAR(64) NULL,
  reason MEDIUMTEXT NULL,
  decided_by VARCHAR(255) NULL,
  decided_at DATETIME(3) NULL,
  PRIMARY KEY (job_id, run),
  KEY by_failure (tenant, sequence),
  KEY by_status_and_failure (tenant, status, sequence),
  KEY by_cause (tenant, status, error_code, cause, sequence),
  KEY by_time (tenant, failed_at),
  KEY by_status (status)`;

/** How many letters there are of each reason, kept up to date with them: counting takes longer with every letter. */
const counts = `
  tenant VARCHAR(64) NOT NULL,
  status VARCHAR(16) NOT NULL,
  error_code VARCHAR(64) NOT NULL,
  cause VARCHAR(200) NOT NULL,
  letters BIGINT NOT NULL,
  PRIMARY KEY (tenant, status, error_code, cause)`;

/**
 * The facts that a failure event does not carry, for every job that may still fail: the row is deleted when its job has
 * ended for good. `replies` is the JSON of Replies.
 */
const jobs = `
  job_id VARCHAR(64) NOT NULL,
  type VARCHAR(32) NOT NULL,
  total INT NOT NULL,
  replies MEDIUMTEXT NOT NULL,
  PRIMARY KEY (job_id)`;

export const deadLetterTableDefinitions = {
  dead_letters: letters,
  dead_letters_counts: counts,
  dead_letters_jobs: jobs,
};

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
  readonly reply: string | null;
  readonly cause: string;
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

export type CountRow = Pick<LetterRow, "tenant" | "status" | "error_code" | "cause"> & { readonly letters: number };

/** A job that may still fail. */
export type JobRow = {
  readonly job_id: string;
  readonly type: DeadLetterRecord["type"];
  readonly total: number;
  readonly replies: string;
};

/** The columns of the row besides the dead letter itself. */
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
  reply: letter.reply,
  cause: letter.cause,
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
  reply: row.reply,
  cause: row.cause,
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
