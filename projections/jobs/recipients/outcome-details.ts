import type { DeliveryError, RecipientOutcome, SuppressionReason } from "../../../src/domain/recipients/events.ts";
import type { StoredEvent } from "../../../src/event-log/event-log.ts";

/** The details of an outcome besides its status. */
export type OutcomeDetails = {
  /** Null if no mail server accepted the mail. */
  readonly messageId: string | null;
  /** The answer of the mail server, with addresses masked; null if it did not answer. */
  readonly response: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

export function outcomeDetailsOf(event: RecipientOutcome): OutcomeDetails {
  switch (event.type) {
    case "RecipientSent":
      return { messageId: event.data.messageId, response: event.data.response, error: null };
    case "RecipientFailed":
    case "RecipientDeferred":
    case "RecipientUnknown":
      return unsent(event.data.error);
    case "RecipientSuppressed":
      return unsent(whySuppressed(event.data.reason));
  }
}

const unsent = ({ code, message, replyCode }: DeliveryError): OutcomeDetails => ({
  messageId: null,
  // Without a reply code the message is the service's own description of a server that did not answer.
  response: replyCode === null ? null : message,
  error: { code, message },
});

const suppressedBecause: Readonly<Record<SuppressionReason, string>> = {
  "hard-bounce": "an earlier mail to it was refused for good",
  unsubscribe: "its owner has unsubscribed",
  manual: "it was put there by hand",
};

const whySuppressed = (code: SuppressionReason): DeliveryError => ({
  code,
  message: `The address is on the suppression list: ${suppressedBecause[code]}.`,
  replyCode: null,
  statusCode: null,
});

export type LogStatus = "success" | "failed" | "deferred" | "unknown" | "suppressed";

export const logStatusOf: Readonly<Record<RecipientOutcome["type"], LogStatus>> = {
  RecipientSent: "success",
  RecipientFailed: "failed",
  RecipientDeferred: "deferred",
  RecipientUnknown: "unknown",
  RecipientSuppressed: "suppressed",
};

export const isOutcome = (stored: StoredEvent): stored is StoredEvent<RecipientOutcome> =>
  stored.event.type in logStatusOf;
