import { Type } from "typebox";
import type { NotificationRecord } from "../../domain/notifications/notification.ts";
import type { DeliveryState } from "../../domain/webhooks/delivery.ts";
import { endWebhookTypes, isAboutMailing, webhookTypes } from "../../domain/webhooks/events.ts";
import { jobPath } from "./job.ts";
import { mailingPath } from "./mailing.ts";
import {
  type AnswerOf,
  count,
  error,
  instant,
  jobId,
  named,
  ordinal,
  orNull,
  outcomeCounts,
  pageOf,
  runId,
  text,
} from "./parts.ts";

const webhookType = Type.Enum([...webhookTypes]);

const endpointFields = { id: text, url: text, types: Type.Array(webhookType), createdAt: instant };

export const endpoint = named("WebhookEndpoint", endpointFields);

type EndpointAnswer = AnswerOf<typeof endpoint>;

/** The endpoint without its signing secrets. */
export const toEndpointAnswer = ({ id, url, types, createdAt }: EndpointAnswer): EndpointAnswer => ({
  id,
  url,
  types,
  createdAt,
});

export const endpointPage = named("WebhookEndpointPage", { data: Type.Array(endpoint), nextCursor: Type.Null() });

/** The API shows a secret once: when the endpoint is created, and when its secret is replaced. */
export const endpointWithSecret = named("WebhookEndpointWithSecret", {
  ...endpointFields,
  secret: text,
  previousValidUntil: orNull(instant),
});

type Secret = { readonly text: string; readonly validUntil: string | null };

export function toSecretAnswer(
  endpoint: EndpointAnswer & { readonly secrets: readonly Secret[] },
): AnswerOf<typeof endpointWithSecret> {
  const [secret, previous] = endpoint.secrets;
  if (secret === undefined) throw new Error(`The webhook endpoint ${endpoint.id} has no secret.`);
  // The previous secret also signs until that time.
  return { ...toEndpointAnswer(endpoint), secret: secret.text, previousValidUntil: previous?.validUntil ?? null };
}

export const delivery = named("WebhookDelivery", {
  id: text,
  jobId: orNull(jobId),
  mailingId: orNull(jobId),
  type: Type.Enum([...endWebhookTypes]),
  status: Type.Enum(["waiting", "delivered", "failed"]),
  round: ordinal,
  attempt: count,
  statusCode: orNull(Type.Integer()),
  error: orNull(error),
  createdAt: instant,
  lastAttemptAt: orNull(instant),
  nextAttemptAt: orNull(instant),
});

/** The events of a mailing have its id in place of that of a job. */
export const toDeliveryAnswer = (record: DeliveryState & { readonly jobId: string }): AnswerOf<typeof delivery> => ({
  id: record.deliveryId,
  jobId: isAboutMailing(record.type) ? null : record.jobId,
  mailingId: isAboutMailing(record.type) ? record.jobId : null,
  type: record.type,
  status: record.status,
  round: record.round,
  attempt: record.attempt,
  statusCode: record.statusCode,
  error: record.error,
  createdAt: record.createdAt,
  lastAttemptAt: record.lastAttemptAt,
  nextAttemptAt: record.nextAttemptAt,
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
  jobId: orNull(jobId),
  mailingId: orNull(jobId),
  run: ordinal,
  type: Type.Enum([...endWebhookTypes]),
  progress: orNull(outcomeCounts),
  error: orNull(error),
  createdAt: instant,
  readAt: orNull(instant),
  links: Type.Union([Type.Object({ job: text }), Type.Object({ mailing: text })]),
});

/** One of the ids of the job and of the mailing is null. */
export const toNotificationAnswer = (record: NotificationRecord, base: string): AnswerOf<typeof notification> => ({
  id: runId(record.jobId, record.run),
  jobId: isAboutMailing(record.type) ? null : record.jobId,
  mailingId: isAboutMailing(record.type) ? record.jobId : null,
  run: record.run,
  type: record.type,
  progress: record.progress,
  error: record.error,
  createdAt: record.createdAt,
  readAt: record.readAt,
  links: isAboutMailing(record.type)
    ? { mailing: mailingPath(base, record.jobId) }
    : { job: jobPath(base, record.jobId) },
});

/** With what people call the job or the mailing, as the read model of jobs has it; null where that is erased, or not there yet. */
const listedNotification = named("ListedNotification", {
  ...notification.properties,
  name: orNull(text),
  subject: orNull(text),
});

export const toListedNotification = (
  record: NotificationRecord,
  names: { readonly name: string | null; readonly subject: string | null } | undefined,
  base: string,
): AnswerOf<typeof listedNotification> => ({
  ...toNotificationAnswer(record, base),
  name: names?.name ?? null,
  subject: names?.subject ?? null,
});

export const notificationPage = pageOf("NotificationPage", listedNotification);

/** How many were marked. With `hasMore` another call marks the next ones. */
export const notificationsRead = named("NotificationsRead", { read: count, hasMore: Type.Boolean() });
