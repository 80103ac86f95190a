import type { Knex } from "knex";
import { inTransaction } from "../../src/database/database.ts";
import type { DueTurn, WaitingList } from "../../src/scheduler/waiting-list.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { waitingProjector } from "./projector.ts";
import { type WaitingRow, waitingTable } from "./rows.ts";

/**
 * The scheduler deletes the rows of the turns that it has queued, instead of waiting for the projection of the
 * JobQueued event to do so: it would queue the same turn repeatedly meanwhile. The projection then finds nothing left
 * to do.
 */
export const createWaitingList = (db: Knex): WaitingList =>
  onReadableRows(db, waitingProjector, {
    takeDue: (limit, queue) =>
      inTransaction(db, async (transaction) => {
        const table = waitingTable("");
        const rows: WaitingRow[] = await transaction(table)
          .where("ready_at", "<=", new Date())
          .orderBy("ready_at")
          .limit(limit)
          .forUpdate()
          .skipLocked()
          .select();
        const results = await Promise.allSettled(rows.map((row) => queue(toDueTurn(row))));
        const queued = rows.filter((_, index) => results[index]?.status === "fulfilled").map(({ job_id }) => job_id);
        if (queued.length > 0) await strikeOff(transaction, table, queued);
        return queued.length;
      }),
  });

/** A job of a group keeps its place, so that it continues to hold back the others. */
async function strikeOff(transaction: Knex.Transaction, table: string, jobIds: readonly string[]): Promise<void> {
  await transaction(table)
    .whereIn("job_id", [...jobIds])
    .whereNotNull("group_sha256")
    .update({ due_at: null, ready_at: null });
  await transaction(table)
    .whereIn("job_id", [...jobIds])
    .whereNull("group_sha256")
    .delete();
}

export const toDueTurn = (row: WaitingRow): DueTurn => ({
  tenant: row.tenant,
  jobId: row.job_id,
  turn: { run: row.run, attempt: row.attempt, opening: row.opening, type: row.type, priority: row.priority },
  cause: {
    sequence: row.cause_sequence,
    id: row.cause_id,
    correlationId: row.correlation_id,
    traceparent: row.traceparent,
  },
});
