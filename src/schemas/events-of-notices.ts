import { Type } from "typebox";
import { endWebhookTypes } from "../domain/webhooks/events.ts";
import { instant, jobError, on, orNull, positive } from "./event-fields.ts";

const notice = on("facts");

const webhookDelivery = {
  deliveryId: Type.String({ minLength: 1 }),
  endpoint: Type.String({ minLength: 1 }),
  type: Type.Enum([...endWebhookTypes]),
  jobSequence: positive,
  round: positive,
};

/** The notifications that a job has ended, and the confirmations that they were read. */
export const eventsOfNotices = {
  WebhookDelivered: notice(
    { ...webhookDelivery, attempt: positive, statusCode: Type.Integer() },
    {
      deliveryId: "5f1c9a52-3f0e-8c5d-9a67-0d1e4b7f2c83",
      endpoint: "0193a5e0-7000-7a4b-9f2e-000000000001",
      type: "job.completed",
      jobSequence: 8,
      round: 1,
      attempt: 1,
      statusCode: 204,
    },
  ),
  WebhookFailed: notice(
    {
      ...webhookDelivery,
      attempt: positive,
      statusCode: orNull(Type.Integer()),
      error: jobError,
      nextAttemptAt: orNull(instant),
    },
    {
      deliveryId: "5f1c9a52-3f0e-8c5d-9a67-0d1e4b7f2c83",
      endpoint: "0193a5e0-7000-7a4b-9f2e-000000000001",
      type: "job.completed",
      jobSequence: 8,
      round: 1,
      attempt: 1,
      statusCode: 503,
      error: { code: "http-status", message: "The receiver answered 503." },
      nextAttemptAt: "2026-11-21T09:30:05.000Z",
    },
  ),
  WebhookRedeliveryRequested: notice(webhookDelivery, {
    deliveryId: "5f1c9a52-3f0e-8c5d-9a67-0d1e4b7f2c83",
    endpoint: "0193a5e0-7000-7a4b-9f2e-000000000001",
    type: "job.completed",
    jobSequence: 8,
    round: 2,
  }),
  NotificationRead: notice({ run: positive }, { run: 1 }),
} as const;
