import type { Knex } from "knex";
import type { DeliveryState } from "../../src/domain/webhooks/delivery.ts";
import { readCheckpoint } from "../checkpoint.ts";
import { type DeliveryRow, toDeliveryState } from "./rows.ts";
import { webhookDeliveriesTable } from "./tables.ts";

export type DeliveryRecord = DeliveryState & { readonly jobId: string };

export type DeliveryListOptions = {
  /** The `nextCursor` of the page before, as a number. */
  readonly cursor: number | null;
  readonly limit: number;
};

export type DeliveryList = {
  readonly readSequence: number;
  /** The newest first. */
  readonly deliveries: readonly DeliveryRecord[];
  /** Null after the last. */
  readonly nextCursor: string | null;
};

export type WebhookDeliveryQueries = {
  list(tenant: string, endpoint: string, options: DeliveryListOptions): Promise<DeliveryList>;
  /** Null where there is none of this endpoint with this id. */
  find(tenant: string, endpoint: string, deliveryId: string): Promise<DeliveryRecord | null>;
};

export const createWebhookDeliveryQueries = (db: Knex): WebhookDeliveryQueries => ({
  list: async (tenant, endpoint, { cursor, limit }) => {
    // The checkpoint first: the rows are then at least as new as it says.
    const checkpoint = await readCheckpoint(db, "webhook-deliveries");
    const rows: DeliveryRow[] = await db(webhookDeliveriesTable(""))
      .where({ tenant, endpoint })
      .andWhere("sequence", "<", cursor ?? Number.MAX_SAFE_INTEGER)
      .orderBy("sequence", "desc")
      .limit(limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      readSequence: checkpoint?.sequence ?? 0,
      deliveries: page.map(toRecord),
      nextCursor: last === undefined ? null : String(last.sequence),
    };
  },
  find: async (tenant, endpoint, deliveryId) => {
    const row: DeliveryRow | undefined = await db(webhookDeliveriesTable(""))
      .where({ tenant, endpoint, delivery_id: deliveryId })
      .first();
    return row === undefined ? null : toRecord(row);
  },
});

const toRecord = (row: DeliveryRow): DeliveryRecord => ({ ...toDeliveryState(row), jobId: row.job_id });
