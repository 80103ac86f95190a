import {
  createNotification,
  isNotified,
  readNotification,
  runAfter,
} from "../../src/domain/notifications/notification.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { idsOf, loadRows, type RowsOfBatch } from "../batch.ts";
import type { EventOf, ProjectionTarget, Projector } from "../projector.ts";
import {
  type AskedJobRow,
  type NotificationRow,
  notificationTableDefinitions,
  notificationTables,
  toNotification,
  toNotificationRow,
} from "./rows.ts";

const handles = [
  "JobCreated",
  "JobCompleted",
  "JobFailed",
  "JobCancelled",
  "JobRetried",
  "NotificationRead",
  "JobContentErased",
] as const;

type Handled = StoredEvent<EventOf<(typeof handles)[number]>>;

/** The notifications that a requested job has ended. */
export const notificationsProjector: Projector<Handled["event"]> = {
  name: "notifications",
  version: 1,
  tables: notificationTableDefinitions,
  views: {},
  handles,
  project,
};

type Rows = { readonly jobs: RowsOfBatch<AskedJobRow>; readonly notifications: RowsOfBatch<NotificationRow> };

async function project(events: readonly Handled[], { transaction, suffix }: ProjectionTarget): Promise<void> {
  const tables = notificationTables(suffix);
  const ids = idsOf(events, ({ jobId }) => jobId);
  const jobs = await loadRows<AskedJobRow>(transaction, tables.jobs, ["job_id"], ids);
  const notifications = await loadRows<NotificationRow>(transaction, tables.notifications, ["job_id", "run"], ids);
  for (const stored of events) apply({ jobs, notifications }, stored);
  await jobs.write();
  await notifications.write();
}

function apply({ jobs, notifications }: Rows, { event, jobId, tenant, actor, sequence }: Handled): void {
  if (event.type === "NotificationRead") {
    const row = notifications.find(jobId, event.data.run);
    if (row === undefined) return;
    const before = toNotification(row);
    const after = readNotification(before, event);
    if (after !== before) notifications.put(toNotificationRow(row, after));
    return;
  }
  if (event.type === "JobCreated") {
    if (isNotified(actor)) jobs.put({ job_id: jobId, asker: actor, run: 1 });
    return;
  }
  const job = jobs.find(jobId);
  if (event.type === "JobContentErased") {
    if (!event.data.isRetired) return;
    for (const row of notifications.all()) if (row.job_id === jobId) notifications.remove(row);
    if (job !== undefined) jobs.remove(job);
    return;
  }
  // The job has no notification, or was never created: history without effect, as in every fold.
  if (job === undefined) return;
  const run = runAfter(job.run, event);
  if (run !== job.run) jobs.put({ ...job, run });
  const notification = createNotification(event, run);
  if (notification === null || notifications.find(jobId, run) !== undefined) return;
  const frame = { job_id: jobId, tenant, asker: job.asker, sequence };
  notifications.put(toNotificationRow(frame, notification));
  if (event.type !== "JobFailed") jobs.remove(job);
}
