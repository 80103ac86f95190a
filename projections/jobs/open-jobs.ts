import type { Knex } from "knex";
import type { OpenJobs } from "../../src/turns/scheduler/missing-turns.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { jobsProjector } from "./projector.ts";
import { jobTables } from "./tables.ts";

const { jobs, counts } = jobTables("");
const atOnce = 50;

type Group = { readonly tenant: string; readonly status: string };
type Row = { readonly id: string; readonly created_at: Date };

/**
 * Queries tenant by tenant and status by status, as the index is ordered: jobs that have ended cost nothing. Each query
 * begins in the index where the one before ended; a comparison of rows, `(created_at, id) > (?, ?)`, would read all
 * before that again.
 */
export const createOpenJobs = (db: Knex): OpenJobs => {
  const nextOf = async ({ tenant, status }: Group, last: Row | undefined): Promise<Row[]> => {
    const later = last === undefined ? "" : "AND created_at >= ? AND (created_at > ? OR id > ?)";
    const after = last === undefined ? [] : [last.created_at, last.created_at, last.id];
    const sql = `
      SELECT id, created_at FROM ?? FORCE INDEX (by_status_and_creation) WHERE tenant = ? AND status = ? ${later}
      ORDER BY created_at, id LIMIT ?`;
    const [rows] = (await db.raw(sql, [jobs, tenant, status, ...after, atOnce])) as [Row[]];
    return rows;
  };

  return onReadableRows(db, jobsProjector, {
    forSome: async (act) => {
      const groups: Group[] = await db(counts)
        .whereIn("status", ["queued", "processing"])
        .andWhere("jobs", ">", 0)
        .distinct("tenant", "status");
      for (const { tenant, status } of groups) {
        let rows: Row[] = [];
        do {
          rows = await nextOf({ tenant, status }, rows.at(-1));
          if (rows.length > 0) await act(rows.map(({ id }) => ({ tenant, jobId: id })));
        } while (rows.length === atOnce);
      }
    },
  });
};
