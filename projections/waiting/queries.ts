import type { Knex } from "knex";
import { onReadableRows } from "../following/readable-rows.ts";
import { waitingProjector } from "./projector.ts";
import { type WaitingRow, waitingTable } from "./rows.ts";

export type WaitingQueries = {
  groupOrder(jobId: string, groupSha256: string): Promise<GroupOrder>;
};

/** The job of a group whose turn it is, null if none waits, and how many jobs go before another one; `isAll`: no more than these. */
type GroupOrder = { readonly head: string | null; readonly before: number; readonly isAll: boolean };

const table = waitingTable("");

export const createWaitingQueries = (db: Knex): WaitingQueries =>
  onReadableRows(db, waitingProjector, {
    groupOrder: async (jobId, groupSha256) => {
      const rows: Pick<WaitingRow, "job_id" | "place">[] = await db<WaitingRow>(table)
        .where({ group_sha256: groupSha256 })
        .orderBy("place")
        .limit(mostRead)
        .select("job_id", "place");
      const own = rows.findIndex(({ job_id }) => job_id === jobId);
      const isAll = own !== -1 || rows.length < mostRead;
      return { head: rows[0]?.job_id ?? null, before: own === -1 ? rows.length : own, isAll };
    },
  });

/** A longer group is counted no further. */
const mostRead = 1000;
