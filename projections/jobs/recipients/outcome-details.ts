import {
  type DeliveryError,
  isOutcome,
  type RecipientOutcome,
  type SuppressionReason,
} from "../../../src/domain/recipients/events.ts";
import { type BounceKind, type FeedbackEvent, isFeedback } from "../../../src/domain/recipients/feedback.ts";
import type { StoredEvent } from "../../../src/event-log/event-log.ts";

/** What happened to a recipient: an outcome, or a report about a mail that was sent. */
export type RecipientIncident = RecipientOutcome | FeedbackEvent;

/** The details of what happened besides its status. */
export type OutcomeDetails = {
  /** Null if no mail server accepted the mail. */
  readonly messageId: string | null;
  /** The answer of the mail server, with addresses masked; null if it did not answer. */
  readonly response: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

export function outcomeDetailsOf(event: RecipientIncident): OutcomeDetails {
  switch (event.type) {
    case "RecipientSent":
      return { messageId: event.data.messageId, response: event.data.response, error: null };
    case "RecipientFailed":
    case "RecipientDeferred":
    case "RecipientUnknown":
      return unsent(event.data.error);
    case "RecipientSuppressed":
      return unsent(whySuppressed(event.data.reason));
    case "RecipientBounced": {
      const { bounce, diagnostic } = event.data;
      const response = diagnostic === "" ? null : diagnostic;
      return {
        messageId: null,
        response,
        error: { code: `${bounce}-bounce`, message: response ?? bounceInWords[bounce] },
      };
    }
    case "RecipientComplained":
      return { messageId: null, response: null, error: complaintInWords(event.data.complaint) };
  }
}

const bounceInWords: Readonly<Record<BounceKind, string>> = {
  hard: "The mail came back: the address accepts none.",
  soft: "The mail came back: the address did not accept it this time.",
  unknown: "The mail came back.",
};

const complaintInWords = (complaint: string) => ({
  code: "complaint",
  message: `The recipient reported the mail as unwanted: ${complaint}.`,
});

const unsent = ({ code, message, replyCode }: DeliveryError): OutcomeDetails => ({
  messageId: null,
  // Without a reply code the message is the service's own description of a server that did not answer.
  response: replyCode === null ? null : message,
  error: { code, message },
});

const suppressedBecause: Readonly<Record<SuppressionReason, string>> = {
  "hard-bounce": "an earlier mail to it was refused for good",
  "soft-bounces": "too many mails to it came back",
  complaint: "its owner reported an earlier mail as unwanted",
  unsubscribe: "its owner has unsubscribed",
  manual: "it was put there by hand",
};

const whySuppressed = (code: SuppressionReason): DeliveryError => ({
  code,
  message: `The address is on the suppression list: ${suppressedBecause[code]}.`,
  replyCode: null,
  statusCode: null,
});

export type LogStatus = "success" | "failed" | "deferred" | "unknown" | "suppressed" | "bounced" | "complained";

export const logStatusOf: Readonly<Record<RecipientIncident["type"], LogStatus>> = {
  RecipientSent: "success",
  RecipientFailed: "failed",
  RecipientDeferred: "deferred",
  RecipientUnknown: "unknown",
  RecipientSuppressed: "suppressed",
  RecipientBounced: "bounced",
  RecipientComplained: "complained",
};

export const isStoredOutcome = (stored: StoredEvent): stored is StoredEvent<RecipientOutcome> =>
  isOutcome(stored.event);

export const isStoredReport = (stored: StoredEvent): stored is StoredEvent<FeedbackEvent> => isFeedback(stored.event);
