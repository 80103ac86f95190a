import { createHash } from "node:crypto";
import type { JobContent } from "../../src/content/content-store.ts";
import type { JobSettings } from "../../src/domain/job/events.ts";
import type { Instant } from "../../src/domain/message.ts";
import { type RecipientStatus, recipientStatusOf } from "../../src/domain/recipients/recipient-status.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { toDate, toInstant } from "../instants.ts";
import type { Suffix } from "../projector.ts";
import type { FoldingRecipients } from "./fold-job.ts";

export const recipientTables = (suffix: Suffix) => ({
  recipients: `recipients${suffix}`,
  jobs: `recipients_jobs${suffix}`,
});

/**
 * One row for each recipient of each job, from the moment the job is created. `sequence` is that of the job's
 * JobCreated event. It stands in for the job id, which is five times as long and would be in every entry of both
 * indexes; and the newest mailing to an address has the highest sequence. `history` is a record for each outcome, in
 * the order of the log (see history.ts).
 *
 * `email`, the original spelling, and `address`, the search key, are all that a row holds about the person: both are
 * null once they were erased, for one recipient by the primary key, for a whole job by its first part.
 */
const recipients = `
  sequence BIGINT NOT NULL,
  recipient INT NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  email VARCHAR(2048) COLLATE utf8mb4_unicode_ci NULL,
  address VARCHAR(255) NULL,
  status VARCHAR(16) NOT NULL,
  history MEDIUMTEXT NOT NULL,
  updated_at DATETIME(3) NOT NULL,
  PRIMARY KEY (sequence, recipient),
  KEY by_address (tenant, address, sequence, recipient)`;

/**
 * The columns that the recipients of a job share, and its ledger, from which the fold continues: a byte for each, as of
 * `run` (see src/domain/recipients/ledger.ts). Name and subject are content, and null once that was erased.
 */
const jobs = `
  job_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  sequence BIGINT NOT NULL,
  type VARCHAR(32) NOT NULL,
  name VARCHAR(1000) COLLATE utf8mb4_unicode_ci NULL,
  subject VARCHAR(1000) COLLATE utf8mb4_unicode_ci NULL,
  created_at DATETIME(3) NOT NULL,
  run INT NOT NULL,
  cells VARBINARY(1000) NOT NULL,
  PRIMARY KEY (job_id),
  UNIQUE KEY by_sequence (sequence)`;

export const recipientTableDefinitions = { recipients, recipients_jobs: jobs };

/** A job whose recipients are folded. */
export type FoldingJob = JobRef &
  FoldingRecipients & {
    /** The sequence of its JobCreated event. */
    readonly sequence: number;
    readonly type: JobSettings["type"];
    readonly createdAt: Instant;
  };

export type RecipientRow = {
  readonly sequence: number;
  readonly recipient: number;
  readonly tenant: string;
  readonly email: string | null;
  readonly address: string | null;
  readonly status: RecipientStatus;
  readonly history: string;
  readonly updated_at: Date;
};

export type JobRow = {
  readonly job_id: string;
  readonly tenant: string;
  readonly sequence: number;
  readonly type: JobSettings["type"];
  readonly name: string | null;
  readonly subject: string | null;
  readonly created_at: Date;
  readonly run: number;
  readonly cells: Buffer;
};

/** Null content was erased. */
export const toJobRow = (job: FoldingJob, content: JobContent | null): JobRow => ({
  job_id: job.jobId,
  tenant: job.tenant,
  sequence: job.sequence,
  type: job.type,
  name: content?.name ?? null,
  subject: content?.subject ?? null,
  created_at: toDate(job.createdAt),
  run: job.ledger.run,
  cells: Buffer.from(job.ledger.cells),
});

export const toFoldingJob = (row: JobRow): FoldingJob => ({
  jobId: row.job_id,
  tenant: row.tenant,
  sequence: Number(row.sequence),
  type: row.type,
  createdAt: toInstant(row.created_at),
  // The driver's buffer is a view of the packet; the fold needs one that it may change.
  ledger: { run: row.run, cells: Uint8Array.from(row.cells) },
  news: new Map(),
});

export function toRecipientRow(job: FoldingJob, recipient: number, content: JobContent | null): RecipientRow {
  const email = content?.recipients[recipient]?.email ?? null;
  const news = job.news.get(recipient);
  return {
    sequence: job.sequence,
    recipient,
    tenant: job.tenant,
    email,
    address: email === null ? null : addressKeyOf(email),
    status: recipientStatusOf(job.ledger.cells[recipient] ?? -1),
    history: news?.history ?? "",
    updated_at: toDate(news?.at ?? job.createdAt),
  };
}

/** The most characters that the column holds; an e-mail address never has more. */
const maxLength = 255;

/**
 * The search key of an address: the same for every spelling that acceptance treats as the same address. The addresses
 * of other kinds of jobs are URLs, which may be longer than an index allows; they are found by their digest.
 */
export function addressKeyOf(address: string): string {
  const key = address.toLowerCase();
  return key.length <= maxLength ? key : `sha256:${createHash("sha256").update(key).digest("hex")}`;
}
