import type { DeliveryError, RecipientOutcome } from "../../src/domain/recipients/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { toDate, toInstant, toInstantOrNull } from "../instants.ts";

export type LogStatus = "success" | "failed" | "deferred" | "unknown";

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
  /** What the mail server answered, addresses masked, whatever it was; null where it did not. */
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
  switch (event.type) {
    case "RecipientSent":
      return {
        status: "success",
        message_id: event.data.messageId,
        response: event.data.response,
        error_code: null,
        error_message: null,
        sent_at: toDate(event.at),
      };
    case "RecipientFailed":
      return { status: "failed", ...unsent(event.data.error) };
    case "RecipientDeferred":
      return { status: "deferred", ...unsent(event.data.error) };
    case "RecipientUnknown":
      return { status: "unknown", ...unsent(event.data.error) };
  }
}

const unsent = (error: DeliveryError): Omit<Outcome, "status"> => ({
  message_id: null,
  // Without a reply code the message is our own words for a server that did not answer.
  response: error.replyCode === null ? null : error.message,
  error_code: error.code,
  error_message: error.message,
  sent_at: null,
});

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
