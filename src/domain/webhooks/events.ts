import type { JobError, JobEvent } from "../job/events.ts";
import type { Instant, Message } from "../message.ts";

export const webhookTypes = ["job.completed", "job.failed", "job.cancelled"] as const;

/** What a webhook tells of. */
export type WebhookType = (typeof webhookTypes)[number];

/** How it calls the decision that ends a run; undefined for every other. */
export const notifiedTypes: Partial<Record<JobEvent["type"], WebhookType>> = {
  JobCompleted: "job.completed",
  JobFailed: "job.failed",
  JobCancelled: "job.cancelled",
};

/**
 * One message to one receiver. A round is one life of it, from the first attempt to its end; asked for again by hand,
 * the next one begins. Rounds and attempts count from 1.
 */
export type WebhookDelivery = {
  /** The `webhook-id`: the same on every attempt of every round, by which a receiver knows what it has seen. */
  readonly deliveryId: string;
  /** The id of the endpoint, or `job` for the job's own webhookUrl. The log holds no URL: it may have secrets in it. */
  readonly endpoint: string;
  readonly type: WebhookType;
  /** The place in the log of the decision that it tells of. */
  readonly jobSequence: number;
  readonly round: number;
};

export type WebhookEvent =
  | Message<"WebhookDelivered", WebhookDelivery & { readonly attempt: number; readonly statusCode: number }>
  /** Final without a next attempt. `statusCode` is null where no answer came. */
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
