import type { Knex } from "knex";
import { inTransaction } from "../../src/database/database.ts";
import type { DueDeliveries } from "../../src/webhooks/deliveries.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { webhookDeliveriesProjector } from "./projector.ts";
import { type DeliveryRow, webhookDeliveriesTable } from "./rows.ts";

/** Of the database, too: a process whose clock is ahead would take what another one has in hand. */
const now = "CURRENT_TIMESTAMP(3)";

/**
 * No lock is held while a message is in flight: the process that takes a row moves its time ahead, and the next outcome
 * sets it.
 */
export const createDueDeliveries = (db: Knex): DueDeliveries =>
  onReadableRows(db, webhookDeliveriesProjector, {
    take: async (limit, leaseMs) => {
      const table = webhookDeliveriesTable("");
      const dueIn = (database: Knex) => database(table).where("due_at", "<=", new Date()).whereRaw(`due_at <= ${now}`);
      if ((await dueIn(db).first(db.raw("1"))) === undefined) return [];
      return inTransaction(db, async (transaction) => {
        const rows: DeliveryRow[] = await dueIn(transaction)
          .orderBy("due_at")
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .select();
        const ids = rows.map(({ delivery_id }) => delivery_id);
        const dueAgainAt = transaction.raw(`${now} + INTERVAL ? MICROSECOND`, [leaseMs * 1000]);
        if (ids.length > 0) await transaction(table).whereIn("delivery_id", ids).update({ due_at: dueAgainAt });
        return rows.map(({ tenant, job_id, delivery_id }) => ({ tenant, jobId: job_id, deliveryId: delivery_id }));
      });
    },
  });
