import type { JobError, JobEvent, RecipientCounts } from "../job/events.ts";
import type { Instant, Message } from "../message.ts";
import { notifiedTypes, type WebhookType } from "../webhooks/events.ts";

/** Whoever asked for the job has read that `run` of it ended. Who it was, the event's actor tells. */
export type NotificationEvent = Message<"NotificationRead", { readonly run: number }>;

/** Tells who asked for a job that a run of it has ended. It names nobody: what was sent and to whom is content. */
export type Notification = {
  readonly run: number;
  readonly type: WebhookType;
  /** As they were when it ended; null where nobody counted them. */
  readonly progress: RecipientCounts | null;
  readonly error: JobError | null;
  readonly createdAt: Instant;
  readonly readAt: Instant | null;
};

/** The notification as the query side answers it, the same from a read model and from the log. */
export type NotificationRecord = Notification & { readonly jobId: string };

/** `run` is the one that the job is in. Null for an event that ends none. */
export function createNotification(event: JobEvent, run: number): Notification | null {
  const type = notifiedTypes[event.type];
  if (type === undefined) return null;
  const progress = "counts" in event.data ? event.data.counts : null;
  const error = event.type === "JobFailed" ? event.data.error : null;
  return { run, type, progress, error, createdAt: event.at, readAt: null };
}

/** Read is read: the first time stands. */
export const readNotification = <Read extends Pick<Notification, "readAt">>(
  notification: Read,
  { at }: NotificationEvent,
): Read => (notification.readAt === null ? { ...notification, readAt: at } : notification);

/** The run that a job is in after an event of its own. */
export const runAfter = (run: number, event: JobEvent): number => (event.type === "JobRetried" ? event.data.run : run);

/** Whether somebody comes to look: an application that writes into the outbox finds the job's id there instead. */
export const isNotified = (actor: string): boolean => actor === "anonymous" || actor.startsWith("key:");
