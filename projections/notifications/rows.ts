import type { Notification, NotificationRecord } from "../../src/domain/notifications/notification.ts";
import { toDate, toDateOrNull, toInstant, toInstantOrNull } from "../instants.ts";
import type { Suffix } from "../projector.ts";

export const notificationTables = (suffix: Suffix) => ({
  notifications: `notifications${suffix}`,
  jobs: `notifications_jobs${suffix}`,
});

/**
 * One row for each run that ended, ordered by `sequence`, that of its end. `asker` is the actor that requested the job,
 * or started the mailing whose id is `job_id`, and `progress` its counts as JSON.
 */
const notifications = `
  job_id VARCHAR(64) NOT NULL,
  run INT NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  asker VARCHAR(255) NOT NULL,
  sequence BIGINT NOT NULL,
  type VARCHAR(32) NOT NULL,
  progress VARCHAR(1000) NULL,
  error_code VARCHAR(64) NULL,
  error_message MEDIUMTEXT NULL,
  created_at DATETIME(3) NOT NULL,
  read_at DATETIME(3) NULL,
  PRIMARY KEY (job_id, run),
  KEY by_asker (tenant, asker, sequence),
  KEY by_unread (tenant, asker, read_at, sequence)`;

/** The requesting actor of every job that may still end: the row is deleted when its job has ended for good. */
const jobs = `
  job_id VARCHAR(64) NOT NULL,
  asker VARCHAR(255) NOT NULL,
  run INT NOT NULL,
  PRIMARY KEY (job_id)`;

export const notificationTableDefinitions = { notifications, notifications_jobs: jobs };

/** A row of the table `notifications`. */
export type NotificationRow = {
  readonly job_id: string;
  readonly run: number;
  readonly tenant: string;
  readonly asker: string;
  readonly sequence: number;
  readonly type: Notification["type"];
  readonly progress: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly created_at: Date;
  readonly read_at: Date | null;
};

/** A job that may still end. */
export type AskedJobRow = { readonly job_id: string; readonly asker: string; readonly run: number };

export type NotificationFrame = Pick<NotificationRow, "job_id" | "tenant" | "asker" | "sequence">;

export const toNotificationRow = (frame: NotificationFrame, notification: Notification): NotificationRow => ({
  job_id: frame.job_id,
  run: notification.run,
  tenant: frame.tenant,
  asker: frame.asker,
  sequence: frame.sequence,
  type: notification.type,
  progress: notification.progress === null ? null : JSON.stringify(notification.progress),
  error_code: notification.error?.code ?? null,
  error_message: notification.error?.message ?? null,
  created_at: toDate(notification.createdAt),
  read_at: toDateOrNull(notification.readAt),
});

export const toNotification = (row: NotificationRow): NotificationRecord => ({
  jobId: row.job_id,
  run: row.run,
  type: row.type,
  progress: row.progress === null ? null : JSON.parse(row.progress),
  error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
  createdAt: toInstant(row.created_at),
  readAt: toInstantOrNull(row.read_at),
});
