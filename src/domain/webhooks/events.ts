import type { JobError, JobEvent } from "../job/events.ts";
import type { MailingEvent } from "../mailing/events.ts";
import type { Instant, Message } from "../message.ts";

export const jobWebhookTypes = ["job.completed", "job.failed", "job.cancelled"] as const;

/** Messages about the end of a job or a mailing, each in a call of its own. */
export const endWebhookTypes = [...jobWebhookTypes, "mailing.completed", "mailing.cancelled"] as const;

/** Messages about single recipients, many in one call. An endpoint gets them only if it names them. */
export const recipientWebhookTypes = [
  "recipient.sent",
  "recipient.deferred",
  "recipient.failed",
  "recipient.unknown",
  "recipient.suppressed",
  "recipient.bounced",
  "recipient.complained",
  "recipient.unsubscribed",
] as const;

export const webhookTypes = [...endWebhookTypes, ...recipientWebhookTypes] as const;

/** The types of messages that a webhook sends. */
export type WebhookType = (typeof webhookTypes)[number];
export type EndWebhookType = (typeof endWebhookTypes)[number];
export type RecipientWebhookType = (typeof recipientWebhookTypes)[number];
export type JobWebhookType = (typeof jobWebhookTypes)[number];

/** The message type of each decision that ends a run; undefined for every other decision. */
export const notifiedTypes: Partial<Record<JobEvent["type"], JobWebhookType>> = {
  JobCompleted: "job.completed",
  JobFailed: "job.failed",
  JobCancelled: "job.cancelled",
};

/**
 * The same of the decisions that end a mailing. With whatever result its parts have ended, it is completed: the message
 * shows the result as the status.
 */
export const notifiedMailingTypes: Partial<Record<MailingEvent["type"], EndWebhookType>> = {
  MailingCompleted: "mailing.completed",
  MailingCancelled: "mailing.cancelled",
};

export const isAboutMailing = (type: EndWebhookType): boolean => !jobWebhookTypes.some((known) => known === type);

/**
 * One message to one receiver. A round goes from the first attempt to the final outcome; a redelivery by hand begins the
 * next round. Rounds and attempts count from 1.
 */
export type WebhookDelivery = {
  /** The `webhook-id`: the same on every attempt of every round, so that a receiver recognises a repeated message. */
  readonly deliveryId: string;
  /** The id of the endpoint, or `job` for the webhookUrl that the job or the mailing names. The log holds no URL, which may contain secrets. */
  readonly endpoint: string;
  readonly type: EndWebhookType;
  /** The sequence of the decision that the message is about. */
  readonly jobSequence: number;
  readonly round: number;
};

export type WebhookEvent =
  | Message<"WebhookDelivered", WebhookDelivery & { readonly attempt: number; readonly statusCode: number }>
  /** Final if there is no next attempt. `statusCode` is null if no answer came. */
  | Message<
      "WebhookFailed",
      WebhookDelivery & {
        readonly attempt: number;
        readonly statusCode: number | null;
        readonly error: JobError;
        readonly nextAttemptAt: Instant | null;
      }
    >
  /** `round` is the one that begins. */
  | Message<"WebhookRedeliveryRequested", WebhookDelivery>;
