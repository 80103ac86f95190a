import type { JobSettings } from "../../../src/domain/job/events.ts";
import type { Instant } from "../../../src/domain/message.ts";
import type { RecipientStatus } from "../../../src/domain/recipients/recipient-status.ts";
import type { PastOutcome } from "./history.ts";
import type { OutcomeDetails } from "./outcome-details.ts";

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
  /** When a report said that the mail came back, and that the recipient complained of it; null if none did. */
  readonly bouncedAt: Instant | null;
  readonly complainedAt: Instant | null;
  /** The time of the last outcome or, in a run without one, of the beginning of the run. */
  readonly updatedAt: Instant;
};

/** What is known of a recipient besides its outcomes. */
export type KnownRecipient = {
  readonly recipient: number;
  readonly email: string | null;
  readonly status: RecipientStatus;
  /** The beginning of the current run of its job. */
  readonly runBeganAt: Instant;
};

export function toRecipientRecord(known: KnownRecipient, history: readonly PastOutcome[]): RecipientRecord {
  const { recipient, email, status } = known;
  const counting = history.filter(({ counts }) => counts);
  const last = counting.at(-1);
  return {
    recipient,
    email,
    status,
    attempts: counting.filter((outcome) => outcome.status !== "suppressed").length,
    run: last?.run ?? null,
    attempt: last?.attempt ?? null,
    messageId: last?.messageId ?? null,
    response: last?.response ?? null,
    error: last?.error ?? null,
    sentAt: last?.status === "sent" ? last.at : null,
    bouncedAt: history.find((past) => past.status === "bounced")?.at ?? null,
    complainedAt: history.find((past) => past.status === "complained")?.at ?? null,
    updatedAt: updatedAt(known, history),
  };
}

const updatedAt = ({ status, runBeganAt }: KnownRecipient, history: readonly PastOutcome[]): Instant => {
  const last = history.at(-1)?.at ?? runBeganAt;
  return status === "pending" && last < runBeganAt ? runBeganAt : last;
};

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

/** The part of a job that each of its recipients shows. */
export type JobOfEntry = Pick<LedgerEntry, "jobId" | "type" | "name" | "subject" | "createdAt">;

export const toLedgerEntry = (
  job: JobOfEntry,
  known: KnownRecipient,
  history: readonly PastOutcome[],
): LedgerEntry => ({
  jobId: job.jobId,
  recipient: known.recipient,
  email: known.email,
  type: job.type,
  name: job.name,
  subject: job.subject,
  status: known.status,
  createdAt: job.createdAt,
  updatedAt: updatedAt(known, history),
  history,
});
