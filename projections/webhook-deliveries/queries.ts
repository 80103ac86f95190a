import type { Knex } from "knex";
import type { DeliveryState } from "../../src/domain/webhooks/delivery.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { type PageOptions, readNewestFirst } from "../newest-first.ts";
import { webhookDeliveriesProjector } from "./projector.ts";
import { type DeliveryRow, toDeliveryState, webhookDeliveriesTable } from "./rows.ts";

export type DeliveryRecord = DeliveryState & { readonly jobId: string };

export type DeliveryListOptions = PageOptions;

export type DeliveryList = {
  readonly readSequence: number;
  /** The newest first. */
  readonly deliveries: readonly DeliveryRecord[];
  /** Null after the last. */
  readonly nextCursor: string | null;
};

export type WebhookDeliveryQueries = {
  list(tenant: string, endpoint: string, options: DeliveryListOptions): Promise<DeliveryList>;
  /** Null if this endpoint has no delivery with this id. */
  find(tenant: string, endpoint: string, deliveryId: string): Promise<DeliveryRecord | null>;
};

export const createWebhookDeliveryQueries = (db: Knex): WebhookDeliveryQueries =>
  onReadableRows(db, webhookDeliveriesProjector, {
    list: async (tenant, endpoint, options) => {
      const place = {
        projection: "webhook-deliveries",
        table: webhookDeliveriesTable(""),
        matching: { tenant, endpoint },
      };
      const { rows, ...page } = await readNewestFirst<DeliveryRow>(db, place, options);
      return { ...page, deliveries: rows.map(toRecord) };
    },
    find: async (tenant, endpoint, deliveryId) => {
      const row: DeliveryRow | undefined = await db(webhookDeliveriesTable(""))
        .where({ tenant, endpoint, delivery_id: deliveryId })
        .first();
      return row === undefined ? null : toRecord(row);
    },
  });

const toRecord = (row: DeliveryRow): DeliveryRecord => ({ ...toDeliveryState(row), jobId: row.job_id });
