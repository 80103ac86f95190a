import type { RecipientOutcome } from "../../src/domain/recipients/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { toDate, toInstant, toInstantOrNull } from "../instants.ts";
import { outcomeDetailsOf } from "../outcome-details.ts";
import type { Suffix } from "../projector.ts";

export const logErasuresTable = (suffix: Suffix): string => `logs_erasures${suffix}`;

export const logsTable = (suffix: Suffix): string => `logs${suffix}`;

/**
 * One row for each outcome of a recipient, in the order of the log within its job. `email` is null if the content was
 * erased before the outcome was projected; `response` is null if no mail server answered. The column for addresses is
 * long enough for the URLs of other kinds of jobs.
 */
const logs = `
  job_id VARCHAR(64) NOT NULL,
  sequence BIGINT NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  recipient INT NOT NULL,
  email VARCHAR(2048) NULL,
  status VARCHAR(16) NOT NULL,
  run INT NOT NULL,
  attempt INT NOT NULL,
  message_id VARCHAR(998) NULL,
  response MEDIUMTEXT NULL,
  error_code VARCHAR(64) NULL,
  error_message MEDIUMTEXT NULL,
  sent_at DATETIME(3) NULL,
  created_at DATETIME(3) NOT NULL,
  PRIMARY KEY (job_id, sequence),
  KEY by_time (tenant, created_at, sequence)`;

/** The columns that reporting tools of earlier systems know, under their names there. */
const emailLogs = `
  SELECT sequence AS id, job_id AS jobId, email AS email, status AS status, attempt AS attempt, sent_at AS sentAt,
    error_message AS error, created_at AS createdAt
  FROM logs`;

/** The erasures: one row for each recipient, or one with -1 for all. Later outcomes are checked against it. */
const erasures = `
  job_id VARCHAR(64) NOT NULL,
  recipient INT NOT NULL,
  PRIMARY KEY (job_id, recipient)`;

export const logTableDefinitions = { logs, logs_erasures: erasures };
export const logViewDefinitions = { email_logs: emailLogs };

export type LogStatus = "success" | "failed" | "deferred" | "unknown" | "suppressed";

export type LogRow = {
  readonly job_id: string;
  readonly sequence: number;
  readonly tenant: string;
  readonly recipient: number;
  readonly email: string | null;
  readonly status: LogStatus;
  readonly run: number;
  readonly attempt: number;
  readonly message_id: string | null;
  readonly response: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly sent_at: Date | null;
  readonly created_at: Date;
};

/** What happened to one recipient in one attempt. */
export type LogEntry = {
  /** The sequence of the event. */
  readonly id: string;
  /** Its index in the job. */
  readonly recipient: number;
  /** Null once it was erased. */
  readonly email: string | null;
  readonly status: LogStatus;
  readonly attempt: number;
  readonly run: number;
  readonly sentAt: string | null;
  readonly createdAt: string;
  readonly messageId: string | null;
  /** The answer of the mail server, with addresses masked; null if it did not answer. */
  readonly response: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

export function toLogRow(stored: StoredEvent<RecipientOutcome>, email: string | null): LogRow {
  const { jobId, sequence, tenant, event } = stored;
  return {
    job_id: jobId,
    sequence,
    tenant,
    recipient: event.data.recipient,
    email,
    run: event.data.run,
    attempt: event.data.attempt,
    ...outcomeOf(event),
    created_at: toDate(event.at),
  };
}

type Outcome = Pick<LogRow, "status" | "message_id" | "response" | "error_code" | "error_message" | "sent_at">;

function outcomeOf(event: RecipientOutcome): Outcome {
  const { messageId, response, error } = outcomeDetailsOf(event);
  return {
    status: statusOf[event.type],
    message_id: messageId,
    response,
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
    sent_at: event.type === "RecipientSent" ? toDate(event.at) : null,
  };
}

const statusOf: Readonly<Record<RecipientOutcome["type"], LogStatus>> = {
  RecipientSent: "success",
  RecipientFailed: "failed",
  RecipientDeferred: "deferred",
  RecipientUnknown: "unknown",
  RecipientSuppressed: "suppressed",
};

export const outcomeTypes = Object.keys(statusOf) as RecipientOutcome["type"][];

export const toLogEntry = (row: LogRow): LogEntry => ({
  id: String(row.sequence),
  recipient: row.recipient,
  email: row.email,
  status: row.status,
  attempt: row.attempt,
  run: row.run,
  sentAt: toInstantOrNull(row.sent_at),
  createdAt: toInstant(row.created_at),
  messageId: row.message_id,
  response: row.response,
  error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
});
