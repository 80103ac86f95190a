import type { Knex } from "knex";
import type { NotificationRecord } from "../../src/domain/notifications/notification.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { type PageOptions, readNewestFirst } from "../newest-first.ts";
import { notificationsProjector } from "./projector.ts";
import { type NotificationRow, notificationTables, toNotification } from "./rows.ts";

export type NotificationListOptions = PageOptions & { readonly unreadOnly: boolean };

export type NotificationList = {
  readonly readSequence: number;
  /** The newest first. */
  readonly notifications: readonly NotificationRecord[];
  /** Null after the last. */
  readonly nextCursor: string | null;
};

export type NotificationQueries = {
  /** `asker` is the actor that requested the jobs: the list holds only its notifications. */
  list(tenant: string, asker: string, options: NotificationListOptions): Promise<NotificationList>;
};

export const createNotificationQueries = (db: Knex): NotificationQueries =>
  onReadableRows(db, notificationsProjector, {
    list: async (tenant, asker, { unreadOnly, ...options }) => {
      const matching = { tenant, asker, ...(unreadOnly ? { read_at: null } : {}) };
      const { notifications: table } = notificationTables("");
      const place = { projection: "notifications", table, matching };
      const { rows, ...page } = await readNewestFirst<NotificationRow>(db, place, options);
      return { ...page, notifications: rows.map(toNotification) };
    },
  });
