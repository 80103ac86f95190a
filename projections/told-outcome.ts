import type { DeliveryError, RecipientOutcome, SuppressionReason } from "../src/domain/recipients/events.ts";

/** What is told of an outcome besides its status. */
export type ToldOutcome = {
  /** Null where no mail server took it. */
  readonly messageId: string | null;
  /** What the mail server answered, addresses masked, whatever it was; null where it did not. */
  readonly response: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
};

export function tellOutcome(event: RecipientOutcome): ToldOutcome {
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

const unsent = ({ code, message, replyCode }: DeliveryError): ToldOutcome => ({
  messageId: null,
  // Without a reply code the message is our own words for a server that did not answer.
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
