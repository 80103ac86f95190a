import { createHash } from "node:crypto";
import type { Turn } from "../../../src/domain/job/events.ts";
import { normalisedAddress } from "../../../src/domain/recipients/address.ts";
import type { RecipientOutcome } from "../../../src/domain/recipients/events.ts";
import type { JobRef, StoredEvent } from "../../../src/event-log/event-log.ts";
import { placeOf } from "../../../src/event-log/place.ts";
import { toDate } from "../../instants.ts";
import type { Suffix } from "../../projector.ts";
import { type LogStatus, logStatusOf, outcomeDetailsOf, type RecipientIncident } from "./outcome-details.ts";

/**
 * What happened to the recipients of jobs: one row a recipient, inserted when its outcome is known, and for those that
 * were never tried when the job ends. So a mail costs one insert. Until then a recipient is in the content of its job
 * alone, and whether it is still to be served is a byte of the job's ledger: a question about an address looks into the
 * contents of the jobs that have not ended, which are few.
 *
 * `recipients` holds the last outcome that counts, `recipients_earlier` every other: those before it, those that came too
 * late to count, and the reports that came back about the mail. Together they are the logs. The status of a recipient is not in its row: a claim or a retry
 * changes it without an outcome, so the ledger of the job says it.
 *
 * A job is named by the place of its JobCreated event (`jobs.place`): five times shorter than its id, and the newest
 * mailing to an address has the highest. The keys answer:
 *
 * | key | question |
 * | --- | --- |
 * | primary (job, recipient) | the recipients and the logs of a job; an erasure; the next outcome of a recipient |
 * | by_address (tenant, address), then the primary key | what was sent to an address, the newest first |
 * | by_time (tenant, at, place) | reports, in the order of time |
 *
 * `email`, the original spelling, and `address`, the search key, are all that a row holds about a person: both are null
 * once they were erased. No row is inserted after an erasure, which therefore has to find rows only.
 */
export const recipientTables = (suffix: Suffix) => ({
  recipients: `recipients${suffix}`,
  earlier: `recipients_earlier${suffix}`,
});

/** `place` and what follows are null for a recipient that was never tried. `response` is null if no one answered. */
const recipients = `
  job BIGINT NOT NULL,
  recipient INT NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  email VARCHAR(2048) NULL,
  address VARCHAR(255) NULL,
  place BIGINT NULL,
  status VARCHAR(16) NULL,
  run INT NULL,
  attempt INT NULL,
  message_id VARCHAR(998) NULL,
  response MEDIUMTEXT NULL,
  error_code VARCHAR(64) NULL,
  error_message MEDIUMTEXT NULL,
  at DATETIME(3) NULL,
  PRIMARY KEY (job, recipient)`;

/** `counts` is 0 for an outcome that changed nothing, because an earlier one stands: see the ledger. */
const earlier = `
  job BIGINT NOT NULL,
  recipient INT NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  place BIGINT NOT NULL,
  status VARCHAR(16) NOT NULL,
  run INT NOT NULL,
  attempt INT NOT NULL,
  message_id VARCHAR(998) NULL,
  response MEDIUMTEXT NULL,
  error_code VARCHAR(64) NULL,
  error_message MEDIUMTEXT NULL,
  at DATETIME(3) NOT NULL,
  counts TINYINT NOT NULL,
  PRIMARY KEY (job, recipient, place)`;

export const recipientTableDefinitions = { recipients, recipients_earlier: earlier };

const inOrderOfTime = { by_time: "tenant, at, place" };

export const recipientQueryKeys = {
  recipients: { by_address: "tenant, address, job, recipient", ...inOrderOfTime },
  recipients_earlier: inOrderOfTime,
};

const outcomesWith = (email: string): string => `
  SELECT outcome.place AS id, job.id AS jobId, ${email} AS email, outcome.status AS status,
    outcome.attempt AS attempt, IF(outcome.status = 'success', outcome.at, NULL) AS sentAt,
    outcome.error_message AS error, outcome.at AS createdAt`;

/** The columns that reporting tools of earlier systems know, under their names there. */
const emailLogs = `${outcomesWith("outcome.email")}
  FROM recipients AS outcome JOIN jobs AS job ON job.place = outcome.job WHERE outcome.place IS NOT NULL
  UNION ALL ${outcomesWith("recipient.email")}
  FROM recipients_earlier AS outcome JOIN jobs AS job ON job.place = outcome.job
    LEFT JOIN recipients AS recipient ON recipient.job = outcome.job AND recipient.recipient = outcome.recipient`;

export const recipientViewDefinitions = { email_logs: emailLogs };

/** The columns that both tables have for an outcome, in their order in both. */
export const outcomeColumns = [
  "place",
  "status",
  "run",
  "attempt",
  "message_id",
  "response",
  "error_code",
  "error_message",
  "at",
] as const satisfies readonly (keyof OutcomeColumns)[];

export type OutcomeColumns = {
  readonly place: number;
  readonly status: LogStatus;
  readonly run: number;
  readonly attempt: number;
  readonly message_id: string | null;
  readonly response: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly at: Date;
};

export type RecipientRow = {
  readonly job: number;
  readonly recipient: number;
  readonly tenant: string;
  readonly email: string | null;
  readonly address: string | null;
} & { readonly [Column in keyof OutcomeColumns]: OutcomeColumns[Column] | null };

export type EarlierRow = OutcomeColumns & {
  readonly job: number;
  readonly recipient: number;
  readonly tenant: string;
  readonly counts: 0 | 1;
};

/** `turn` is that of the event, or the last one of its job where the event has none. */
export function toOutcomeColumns(stored: StoredEvent<RecipientIncident>, { run, attempt }: Turn): OutcomeColumns {
  const { event } = stored;
  const { messageId, response, error } = outcomeDetailsOf(event);
  return {
    place: placeOf(stored),
    status: logStatusOf[event.type],
    run,
    attempt,
    message_id: messageId,
    response,
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    at: toDate(event.at),
  };
}

const neverTried: { readonly [Column in keyof OutcomeColumns]: null } = {
  place: null,
  status: null,
  run: null,
  attempt: null,
  message_id: null,
  response: null,
  error_code: null,
  error_message: null,
  at: null,
};

/** The job that rows are about. */
export type JobOfRows = JobRef & { readonly place: number };

/** Null for an address that was erased, and for a recipient that was never tried. */
export const toRecipientRow = (
  { place, tenant }: JobOfRows,
  recipient: number,
  email: string | null,
  outcome: StoredEvent<RecipientOutcome> | null,
): RecipientRow => ({
  job: place,
  recipient,
  tenant,
  email,
  address: email === null ? null : addressKeyOf(email),
  ...(outcome === null ? neverTried : toOutcomeColumns(outcome, outcome.event.data)),
});

/** The most characters that the column holds; an e-mail address never has more. */
const maxLength = 255;

/**
 * The search key of an address: the same for every spelling that acceptance treats as the same address. The addresses
 * of other kinds of jobs are URLs, which may be longer than an index allows; they are found by their digest.
 */
export function addressKeyOf(address: string): string {
  const key = normalisedAddress(address);
  return key.length <= maxLength ? key : `sha256:${createHash("sha256").update(key).digest("hex")}`;
}
