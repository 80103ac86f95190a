import type { JobError, JobEvent } from "../job/events.ts";
import type { Instant, Message } from "../message.ts";

export const webhookTypes = ["job.completed", "job.failed", "job.cancelled"] as const;

/** The types of messages that a webhook sends. */
export type WebhookType = (typeof webhookTypes)[number];

/** The message type of each decision that ends a run; undefined for every other decision. */
export const notifiedTypes: Partial<Record<JobEvent["type"], WebhookType>> = {
  JobCompleted: "job.completed",
  JobFailed: "job.failed",
  JobCancelled: "job.cancelled",
};

/**
 * One message to one receiver. A round goes from the first attempt to the final outcome; a redelivery by hand begins the
 * next round. Rounds and attempts count from 1.
 */
export type WebhookDelivery = {
  /** The `webhook-id`: the same on every attempt of every round, so that a receiver recognises a repeated message. */
  readonly deliveryId: string;
  /** The id of the endpoint, or `job` for the job's own webhookUrl. The log holds no URL, which may contain secrets. */
  readonly endpoint: string;
  readonly type: WebhookType;
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
