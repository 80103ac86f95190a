import { unreachedIn } from "../../src/domain/job/after-failure.ts";
import {
  askerAfter,
  createNotification,
  readNotification,
  runAfter,
} from "../../src/domain/notifications/notification.ts";
import type { StoredEvent, TenantEvent } from "../../src/event-log/event-log.ts";
import { idsOf, loadRows, type RowsOfBatch } from "../batch.ts";
import type { ProjectionTarget, Projector } from "../projector.ts";
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
  "MailingApprovalRequested",
  "MailingRejected",
  "MailingStarted",
  "MailingUndone",
  "MailingCompleted",
  "MailingCancelled",
  "MailingRetried",
  "MailingContentErased",
] as const;

type Handled = StoredEvent<Extract<TenantEvent, { readonly type: (typeof handles)[number] }>>;

/** The notifications that a requested job, or a started mailing, has ended. */
export const notificationsProjector: Projector<Handled["event"]> = {
  name: "notifications",
  version: 3,
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
  const job = jobs.find(jobId);
  const asker = askerAfter(job?.asker ?? null, event, actor);
  if (asker !== (job?.asker ?? null)) {
    if (asker !== null) jobs.put({ job_id: jobId, asker, run: 1 });
    else if (job !== undefined) jobs.remove(job);
    return;
  }
  if (event.type === "JobContentErased" || event.type === "MailingContentErased") {
    if (event.type === "JobContentErased" && !event.data.isRetired) return;
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
  // What has not reached all may be run again.
  if (!mayRunAgain(event)) jobs.remove(job);
}

const mayRunAgain = (event: Handled["event"]): boolean =>
  event.type === "JobCompleted"
    ? unreachedIn(event.data.counts) > 0
    : event.type === "JobFailed" || event.type === "MailingCompleted";
