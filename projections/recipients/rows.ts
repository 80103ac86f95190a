import type { JobContent } from "../../src/content/content-store.ts";
import type { JobSettings } from "../../src/domain/job/events.ts";
import type { Instant } from "../../src/domain/message.ts";
import { type RecipientStatus, recipientStatusOf } from "../../src/domain/recipients/recipient-status.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import { toDate, toInstant } from "../instants.ts";
import { addressKeyOf } from "./address-key.ts";
import type { FoldingRecipients } from "./fold-job.ts";

/** A job whose recipients are folded. */
export type FoldingJob = JobRef &
  FoldingRecipients & {
    /** Of its JobCreated. */
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

/** Null content is one that was erased. */
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
  // The driver's buffer is a window on the packet; the fold writes into its own.
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
