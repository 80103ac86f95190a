import type { JobError, Turn } from "../job/events.ts";
import type { Message } from "../message.ts";

/** A recipient is identified by its index in the content of the job: the log holds no address. */
type OfRecipient = Turn & { readonly recipient: number };

/** The mail route by which the answer came; absent for the default one, and where no server was asked. */
type ByRoute = { readonly route?: string };

/** The answer of a mail server, or why there was none. Addresses in `message` are masked. */
export type DeliveryError = {
  /**
   * Stable, kebab-case: `rejected`, `deferred`, `timed-out`, `outcome-unknown`, `attempts-exhausted`, `unsendable`;
   * `sender-rejected` at MAIL, before the server has heard of the recipient.
   */
  readonly code: string;
  readonly message: string;
  /** The reply code, `550`, and the enhanced status code of RFC 3463, `5.1.1`, if there were any. */
  readonly replyCode: number | null;
  readonly statusCode: string | null;
};

/** The code for a mail that was handed over and left without an answer: it may have been taken. */
export const outcomeUnknown = "outcome-unknown";

export type RecipientsClaimed = Message<
  "RecipientsClaimed",
  Turn & { readonly worker: string; readonly recipients: readonly number[] }
>;

/** Claims that are released: these recipients' mails certainly did not reach a mail server. */
export type RecipientsReleased = Message<"RecipientsReleased", Turn & { readonly recipients: readonly number[] }>;

export const suppressionReasons = ["hard-bounce", "soft-bounces", "complaint", "unsubscribe", "manual"] as const;

/** Why an address is on the suppression list of its tenant. */
export type SuppressionReason = (typeof suppressionReasons)[number];

export type RecipientOutcome =
  /** The next mail server took responsibility; `response` is its answer, masked. */
  | Message<"RecipientSent", OfRecipient & ByRoute & { readonly messageId: string; readonly response: string }>
  | Message<"RecipientDeferred", OfRecipient & ByRoute & { readonly error: DeliveryError }>
  | Message<"RecipientFailed", OfRecipient & ByRoute & { readonly error: DeliveryError }>
  /** It may or may not have been sent, which cannot be found out, and the job asked not to try again. */
  | Message<"RecipientUnknown", OfRecipient & { readonly error: DeliveryError }>
  /** Not mailed, because its address is on the suppression list of the tenant. */
  | Message<"RecipientSuppressed", OfRecipient & { readonly reason: SuppressionReason }>;

export type RecipientEvent = RecipientsClaimed | RecipientsReleased | RecipientOutcome;

const outcomes: Readonly<Record<RecipientOutcome["type"], true>> = {
  RecipientSent: true,
  RecipientDeferred: true,
  RecipientFailed: true,
  RecipientUnknown: true,
  RecipientSuppressed: true,
};

export const isOutcome = <Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, RecipientOutcome> => Object.hasOwn(outcomes, event.type);

/**
 * The result of one attempt to reach one recipient, as a closed set of values. No text in it contains the recipient,
 * the subject or the body.
 */
export type SendOutcome =
  /** The other side (a mail server, a receiver) accepted responsibility. */
  | { readonly kind: "sent"; readonly response: string }
  /** Permanent: this recipient or this message is rejected for good. */
  | { readonly kind: "failed"; readonly error: DeliveryError }
  /** Certainly not accepted this time; perhaps later. */
  | { readonly kind: "deferred"; readonly error: DeliveryError }
  /** The message was transmitted and no answer came: it may have been accepted. */
  | { readonly kind: "unknown"; readonly error: DeliveryError }
  /** Certainly not accepted, and not because of this message: nothing can be sent at the moment. */
  | {
      readonly kind: "unavailable";
      readonly error: JobError;
      /** What became of this mail, where that may have been about it, or its receiver, alone. */
      readonly ofMail?: DeliveryError;
    };

/** Whether the other side has answered for this recipient, whatever it said. Silence is no answer, nor is a mail never begun. */
export function isAnswer(outcome: SendOutcome): boolean {
  if (outcome.kind === "sent") return true;
  return (outcome.kind === "failed" || outcome.kind === "deferred") && outcome.error.replyCode !== null;
}
