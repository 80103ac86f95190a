import type { JobError, JobEvent, RecipientCounts } from "../job/events.ts";
import type { MailingEvent } from "../mailing/events.ts";
import type { Instant, Message } from "../message.ts";
import { type EndWebhookType, notifiedMailingTypes, notifiedTypes } from "../webhooks/events.ts";

/** The requesting actor has read that `run` of the job, or of the mailing, ended. The event's actor shows who read it. */
export type NotificationEvent = Message<"NotificationRead", { readonly run: number }>;

/**
 * The notification for the requesting actor that a run of the job, or of the mailing, has ended. It contains no names:
 * what was sent and to whom is content.
 */
export type Notification = {
  readonly run: number;
  readonly type: EndWebhookType;
  /** The counts at the end of the run; null if there were none. */
  readonly progress: RecipientCounts | null;
  readonly error: JobError | null;
  readonly createdAt: Instant;
  readonly readAt: Instant | null;
};

/** The notification as the query side returns it, the same from a read model and from the log. */
export type NotificationRecord = Notification & {
  /** The id of the mailing, for one about a mailing. */
  readonly jobId: string;
};

/** `run` is the job's current run. Null for an event that ends no run. */
export function createNotification(event: JobEvent | MailingEvent, run: number): Notification | null {
  const type = { ...notifiedTypes, ...notifiedMailingTypes }[event.type];
  if (type === undefined) return null;
  const isEnd = event.type === "JobCompleted" || event.type === "JobFailed" || event.type === "MailingCompleted";
  const progress = isEnd ? event.data.counts : null;
  const error = event.type === "JobFailed" ? event.data.error : null;
  return { run, type, progress, error, createdAt: event.at, readAt: null };
}

/** Reading it again has no effect: the first time stands. */
export const readNotification = <Read extends Pick<Notification, "readAt">>(
  notification: Read,
  { at }: NotificationEvent,
): Read => (notification.readAt === null ? { ...notification, readAt: at } : notification);

/** The run that a job or a mailing is in after a decision about it: each retry of a mailing begins the next one. */
export function runAfter(run: number, event: JobEvent | MailingEvent): number {
  if (event.type === "JobRetried") return event.data.run;
  return event.type === "MailingRetried" ? run + 1 : run;
}

/**
 * The actor that is notified of the end, after an event: the one that created the job, or that asked for the start of the
 * mailing. Null where none is: an application that writes into the outbox finds the job's id there instead.
 */
export function askerAfter(
  asker: string | null,
  { type }: Pick<JobEvent | MailingEvent, "type">,
  actor: string,
): string | null {
  const notified = actor === "anonymous" || actor.startsWith("key:") ? actor : null;
  if (type === "JobCreated" || type === "MailingApprovalRequested") return notified;
  if (type === "MailingStarted") return asker ?? notified;
  return type === "MailingUndone" || type === "MailingRejected" ? null : asker;
}
