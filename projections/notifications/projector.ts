import type { Knex } from "knex";
import { putRows } from "../../src/database/write-rows.ts";
import {
  createNotification,
  isNotified,
  readNotification,
  runAfter,
} from "../../src/domain/notifications/notification.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import type { EventOf, ProjectionTarget, Projector, Suffix } from "../projector.ts";
import { type AskedJobRow, type NotificationRow, toNotification, toNotificationRow } from "./rows.ts";
import { notificationTableDefinitions, notificationTables } from "./tables.ts";

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

/** What tells those who asked for jobs that they have ended. */
export const notificationsProjector: Projector<Handled["event"]> = {
  name: "notifications",
  version: 1,
  tables: notificationTableDefinitions,
  views: {},
  handles,
  project,
};

type Rows = { readonly jobs: Map<string, AskedJobRow>; readonly notifications: Map<string, NotificationRow> };

/** Longer lists make MariaDB turn them into a join. */
const loadedAtOnce = 500;

async function project(events: readonly Handled[], { transaction, suffix }: ProjectionTarget): Promise<void> {
  const ids = [...new Set(events.map(({ jobId }) => jobId))].sort();
  const before = await load(transaction, suffix, ids);
  const after: Rows = { jobs: new Map(before.jobs), notifications: new Map(before.notifications) };
  for (const stored of events) apply(after, stored);
  await write(transaction, suffix, before, after);
}

const keyOf = (jobId: string, run: number): string => `${jobId}.${run}`;

function apply({ jobs, notifications }: Rows, { event, jobId, tenant, actor, sequence }: Handled): void {
  if (event.type === "NotificationRead") {
    const key = keyOf(jobId, event.data.run);
    const row = notifications.get(key);
    if (row === undefined) return;
    const before = toNotification(row);
    const after = readNotification(before, event);
    if (after !== before) notifications.set(key, toNotificationRow(row, after));
    return;
  }
  if (event.type === "JobCreated") {
    if (isNotified(actor)) jobs.set(jobId, { job_id: jobId, asker: actor, run: 1 });
    return;
  }
  if (event.type === "JobContentErased") {
    if (!event.data.isRetired) return;
    for (const [key, row] of notifications) if (row.job_id === jobId) notifications.delete(key);
    jobs.delete(jobId);
    return;
  }
  const job = jobs.get(jobId);
  // Nobody is to be told of it, or it was never created: history without effect, as in every fold.
  if (job === undefined) return;
  const run = runAfter(job.run, event);
  if (run !== job.run) jobs.set(jobId, { ...job, run });
  const notification = createNotification(event, run);
  if (notification === null || notifications.has(keyOf(jobId, run))) return;
  const frame = { job_id: jobId, tenant, asker: job.asker, sequence };
  notifications.set(keyOf(jobId, run), toNotificationRow(frame, notification));
  if (event.type !== "JobFailed") jobs.delete(jobId);
}

async function load(transaction: Knex.Transaction, suffix: Suffix, ids: readonly string[]): Promise<Rows> {
  const tables = notificationTables(suffix);
  const rows: Rows = { jobs: new Map(), notifications: new Map() };
  for (let first = 0; first < ids.length; first += loadedAtOnce) {
    const some = ids.slice(first, first + loadedAtOnce);
    const jobs: AskedJobRow[] = await transaction(tables.jobs).whereIn("job_id", some);
    const notifications: NotificationRow[] = await transaction(tables.notifications).whereIn("job_id", some);
    for (const job of jobs) rows.jobs.set(job.job_id, job);
    for (const row of notifications) rows.notifications.set(keyOf(row.job_id, row.run), row);
  }
  return rows;
}

async function write(transaction: Knex.Transaction, suffix: Suffix, before: Rows, after: Rows): Promise<void> {
  const tables = notificationTables(suffix);
  const gone = [...before.jobs.keys()].filter((jobId) => !after.jobs.has(jobId));
  for (let first = 0; first < gone.length; first += loadedAtOnce) {
    await transaction(tables.jobs)
      .whereIn("job_id", gone.slice(first, first + loadedAtOnce))
      .delete();
  }
  for (const [key, { job_id, run }] of before.notifications) {
    if (!after.notifications.has(key)) await transaction(tables.notifications).where({ job_id, run }).delete();
  }
  await putChanged(transaction, tables.jobs, before.jobs, after.jobs);
  await putChanged(transaction, tables.notifications, before.notifications, after.notifications);
}

async function putChanged<Row extends object>(
  transaction: Knex.Transaction,
  table: string,
  before: ReadonlyMap<string, Row>,
  after: ReadonlyMap<string, Row>,
): Promise<void> {
  const rows = [...after].filter(([key, row]) => before.get(key) !== row).map(([, row]) => row);
  const [first] = rows;
  if (first === undefined) return;
  await putRows<Row>(transaction, { table, columns: Object.keys(first) as (keyof Row & string)[], rows });
}
