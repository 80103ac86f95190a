import type { Knex } from "knex";
import { inTransaction } from "../../src/database/database.ts";
import type { WaitingList } from "../../src/turns/scheduler/waiting-list.ts";
import type { QueuedTurn } from "../../src/turns/turns.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { waitingProjector } from "./projector.ts";
import { type WaitingRow, waitingTable } from "./rows.ts";

const table = waitingTable("");
const restoredAtOnce = 1000;

/**
 * The row of a turn that was handed over stays until a worker has begun the turn, and makes it possible to notice that
 * the turn got lost.
 */
export const createWaitingList = (db: Knex): WaitingList =>
  onReadableRows(db, waitingProjector, {
    takeDue: async (limit, put) => {
      const isDue = await db(table).where("ready_at", "<=", new Date()).first(db.raw("1"));
      if (isDue === undefined) return 0;
      return inTransaction(db, async (transaction) => {
        const rows: WaitingRow[] = await transaction(table)
          .where("ready_at", "<=", new Date())
          .orderBy("ready_at")
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .select();
        const results = await Promise.allSettled(rows.map((row) => put(toQueuedTurn(row))));
        const done = rows.filter((_, index) => results[index]?.status === "fulfilled").map(({ job_id }) => job_id);
        if (done.length > 0) {
          await transaction(table).whereIn("job_id", done).update({ ready_at: null, handed_over_at: new Date() });
        }
        return done.length;
      });
    },
    restore: async (isToPut) => {
      const rows: Pick<WaitingRow, "tenant" | "job_id">[] = await db(table)
        .whereNotNull("handed_over_at")
        .select("tenant", "job_id");
      const missing = rows.map(({ tenant, job_id: jobId }) => ({ tenant, jobId })).filter(isToPut);
      for (let start = 0; start < missing.length; start += restoredAtOnce) {
        const ids = missing.slice(start, start + restoredAtOnce).map(({ jobId }) => jobId);
        await db(table)
          .whereIn("job_id", ids)
          .whereNotNull("handed_over_at")
          .update({ ready_at: db.ref("due_at"), handed_over_at: null });
      }
      return missing.length;
    },
  });

export const toQueuedTurn = (row: WaitingRow): QueuedTurn => ({
  tenant: row.tenant,
  jobId: row.job_id,
  run: row.run,
  attempt: row.attempt,
  opening: row.opening,
  type: row.type,
  priority: row.priority,
  after: row.cause_sequence,
  cause: { id: row.cause_id, correlationId: row.correlation_id, traceparent: row.traceparent },
  created: null,
});
