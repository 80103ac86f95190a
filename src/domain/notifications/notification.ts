import type { JobError, JobEvent, RecipientCounts } from "../job/events.ts";
import type { Instant, Message } from "../message.ts";
import { type JobWebhookType, notifiedTypes } from "../webhooks/events.ts";

/** The requesting actor has read that `run` of the job ended. The event's actor shows who read it. */
export type NotificationEvent = Message<"NotificationRead", { readonly run: number }>;

/**
 * The notification for the requesting actor that a run of the job has ended. It contains no names: what was sent and to
 * whom is content.
 */
export type Notification = {
  readonly run: number;
  readonly type: JobWebhookType;
  /** The counts at the end of the run; null if there were none. */
  readonly progress: RecipientCounts | null;
  readonly error: JobError | null;
  readonly createdAt: Instant;
  readonly readAt: Instant | null;
};

/** The notification as the query side returns it, the same from a read model and from the log. */
export type NotificationRecord = Notification & { readonly jobId: string };

/** `run` is the job's current run. Null for an event that ends no run. */
export function createNotification(event: JobEvent, run: number): Notification | null {
  const type = notifiedTypes[event.type];
  if (type === undefined) return null;
  const progress = "counts" in event.data ? event.data.counts : null;
  const error = event.type === "JobFailed" ? event.data.error : null;
  return { run, type, progress, error, createdAt: event.at, readAt: null };
}

/** Reading it again has no effect: the first time stands. */
export const readNotification = <Read extends Pick<Notification, "readAt">>(
  notification: Read,
  { at }: NotificationEvent,
): Read => (notification.readAt === null ? { ...notification, readAt: at } : notification);

/** The run that a job is in after a decision about it. */
export const runAfter = (run: number, event: JobEvent): number => (event.type === "JobRetried" ? event.data.run : run);

/**
 * Whether the requesting actor reads notifications: an application that writes into the outbox finds the job's id there
 * instead.
 */
export const isNotified = (actor: string): boolean => actor === "anonymous" || actor.startsWith("key:");
