import type { JobSettings } from "../../src/domain/job/events.ts";
import type { Instant } from "../../src/domain/message.ts";
import type { RecipientStatus } from "../../src/domain/recipients/recipient-status.ts";
import { toInstant } from "../instants.ts";
import type { OutcomeDetails } from "../outcome-details.ts";
import { fromHistory, type PastOutcome } from "./history.ts";
import type { JobRow, RecipientRow } from "./rows.ts";

/** The current state of a recipient; run, attempt and answer are those of the last outcome that counts. */
export type RecipientRecord = OutcomeDetails & {
  /** Its index in the job. */
  readonly recipient: number;
  /** Null once it was erased. */
  readonly email: string | null;
  readonly status: RecipientStatus;
  /** The number of attempts over all runs, as far as there are outcomes that count. */
  readonly attempts: number;
  /** Null before the first. */
  readonly run: number | null;
  readonly attempt: number | null;
  readonly sentAt: Instant | null;
  /** The time of the last recorded change; initially, of the job's creation. */
  readonly updatedAt: Instant;
};

export function toRecipientRecord(
  row: Pick<RecipientRow, "recipient" | "email" | "status" | "history" | "updated_at">,
): RecipientRecord {
  const counting = fromHistory(row.history).filter(({ counts }) => counts);
  const last = counting.at(-1);
  return {
    recipient: row.recipient,
    email: row.email,
    status: row.status,
    attempts: counting.filter(({ status }) => status !== "suppressed").length,
    run: last?.run ?? null,
    attempt: last?.attempt ?? null,
    messageId: last?.messageId ?? null,
    response: last?.response ?? null,
    error: last?.error ?? null,
    sentAt: last?.status === "sent" ? last.at : null,
    updatedAt: toInstant(row.updated_at),
  };
}

/** One mailing, or a job of another kind, from the view of one address. */
export type LedgerEntry = {
  readonly jobId: string;
  readonly recipient: number;
  readonly email: string | null;
  readonly type: JobSettings["type"];
  /** Both null once they were erased; the name is also null if there is none. */
  readonly name: string | null;
  readonly subject: string | null;
  readonly status: RecipientStatus;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** Every outcome, including those that did not count, oldest first. */
  readonly history: readonly PastOutcome[];
};

export type LedgerEntryRow = Omit<RecipientRow, "tenant" | "address"> &
  Pick<JobRow, "job_id" | "type" | "name" | "subject" | "created_at">;

export const toLedgerEntry = (row: LedgerEntryRow): LedgerEntry => ({
  jobId: row.job_id,
  recipient: row.recipient,
  email: row.email,
  type: row.type,
  name: row.name,
  subject: row.subject,
  status: row.status,
  createdAt: toInstant(row.created_at),
  updatedAt: toInstant(row.updated_at),
  history: fromHistory(row.history),
});
