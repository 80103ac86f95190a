import { type Static, Type } from "typebox";
import type { NotificationRecord } from "../../domain/notifications/notification.ts";
import { webhookTypes } from "../../domain/webhooks/events.ts";
import type { SameShape } from "../../schemas/same-shape.ts";
import { runId } from "../routes/run-ref.ts";
import { jobPath } from "./job-answer.ts";
import { count, error, instant, jobId, named, ordinal, orNull, pageOf, progress, text } from "./parts.ts";
import type { toDeliveryAnswer, toEndpointAnswer, toSecretAnswer } from "./webhook-answer.ts";

const webhookType = Type.Enum([...webhookTypes]);

const endpointFields = { id: text, url: text, types: Type.Array(webhookType), createdAt: instant };

export const endpoint = named("WebhookEndpoint", endpointFields);

export const endpointPage = named("WebhookEndpointPage", { data: Type.Array(endpoint), nextCursor: Type.Null() });

/** Shown once: when it was made, and when the secret was replaced. */
export const endpointWithSecret = named("WebhookEndpointWithSecret", {
  ...endpointFields,
  secret: text,
  previousValidUntil: orNull(instant),
});

export const delivery = named("WebhookDelivery", {
  id: text,
  jobId,
  type: webhookType,
  status: Type.Enum(["waiting", "delivered", "failed"]),
  round: ordinal,
  attempt: count,
  statusCode: orNull(Type.Integer()),
  error: orNull(error),
  createdAt: instant,
  lastAttemptAt: orNull(instant),
  nextAttemptAt: orNull(instant),
});

export const deliveryPage = pageOf("WebhookDeliveryPage", delivery);

export const webhookTestResult = named("WebhookTestResult", {
  webhookId: text,
  delivered: Type.Boolean(),
  statusCode: orNull(Type.Integer()),
  error: orNull(error),
});

export const notification = named("Notification", {
  id: text,
  jobId,
  run: ordinal,
  type: webhookType,
  progress: orNull(progress),
  error: orNull(error),
  createdAt: instant,
  readAt: orNull(instant),
  links: Type.Object({ job: text }),
});

export const notificationPage = pageOf("NotificationPage", notification);

export const toNotificationAnswer = (notification: NotificationRecord, base: string) => ({
  id: runId(notification.jobId, notification.run),
  jobId: notification.jobId,
  run: notification.run,
  type: notification.type,
  progress: notification.progress,
  error: notification.error,
  createdAt: notification.createdAt,
  readAt: notification.readAt,
  links: { job: jobPath(base, notification.jobId) },
});

type Secret = ReturnType<typeof toSecretAnswer>;

true satisfies SameShape<Static<typeof endpoint>, ReturnType<typeof toEndpointAnswer>>;
// A secret is always there; the code looks it up in a list.
true satisfies SameShape<
  Static<typeof endpointWithSecret>,
  Omit<Secret, "secret"> & { secret: NonNullable<Secret["secret"]> }
>;
true satisfies SameShape<Static<typeof delivery>, ReturnType<typeof toDeliveryAnswer>>;
true satisfies SameShape<Static<typeof notification>, ReturnType<typeof toNotificationAnswer>>;
