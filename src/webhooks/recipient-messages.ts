import type { Instant } from "../domain/message.ts";
import type { RecipientOutcome } from "../domain/recipients/events.ts";
import type { ReturnEvent } from "../domain/recipients/feedback.ts";
import type { RecipientWebhookType } from "../domain/webhooks/events.ts";
import type { LogEvent, StoredEvent } from "../event-log/event-log.ts";

type Told = RecipientOutcome | ReturnEvent;

const types = {
  RecipientSent: "recipient.sent",
  RecipientDeferred: "recipient.deferred",
  RecipientFailed: "recipient.failed",
  RecipientUnknown: "recipient.unknown",
  RecipientSuppressed: "recipient.suppressed",
  RecipientBounced: "recipient.bounced",
  RecipientComplained: "recipient.complained",
  RecipientUnsubscribed: "recipient.unsubscribed",
} as const satisfies Record<Told["type"], RecipientWebhookType>;

const typesByEvent: Readonly<Partial<Record<string, RecipientWebhookType>>> = types;

/** The type of message that an event makes; null where it makes none. */
export const messageTypeOf = (event: LogEvent): RecipientWebhookType | null =>
  "event" in event ? (typesByEvent[event.event.type] ?? null) : null;

/** What the log does not hold about the recipient of an event. */
export type Person = { readonly mailingId: string | null; readonly email: string | null };

/** One of the messages of a call. */
export type RecipientMessage = {
  /** Of the event: the same in every call that has this message. */
  readonly id: string;
  readonly type: RecipientWebhookType;
  readonly timestamp: Instant;
  readonly jobId: string;
  /** Null for a job that is no part of a mailing. */
  readonly mailingId: string | null;
  /** The index among the recipients of the job. */
  readonly recipient: number;
  /** Null once it was erased. */
  readonly email: string | null;
  readonly [detail: string]: unknown;
};

export function toMessage(stored: StoredEvent<Told>, { mailingId, email }: Person): RecipientMessage {
  const { id, jobId, event } = stored;
  const { recipient } = event.data;
  const who = { id, type: types[event.type], timestamp: event.at, jobId, mailingId, recipient, email };
  return { ...who, ...detailsOf(event) };
}

function detailsOf(event: Told) {
  switch (event.type) {
    case "RecipientSent": {
      const { run, attempt, messageId, response, route } = event.data;
      return { run, attempt, messageId, response, route: route ?? null };
    }
    case "RecipientDeferred":
    case "RecipientFailed":
    case "RecipientUnknown": {
      const { run, attempt, error } = event.data;
      return { run, attempt, error };
    }
    case "RecipientSuppressed": {
      const { run, attempt, reason } = event.data;
      return { run, attempt, reason };
    }
    case "RecipientBounced": {
      const { source, bounce, statusCode, replyCode, diagnostic } = event.data;
      return { source, bounce, statusCode, replyCode, diagnostic };
    }
    case "RecipientComplained": {
      const { source, complaint } = event.data;
      return { source, complaint };
    }
    case "RecipientUnsubscribed":
      return {};
  }
}

export type ToldEvent = StoredEvent<Told>;
