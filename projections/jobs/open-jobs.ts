import type { Knex } from "knex";
import type { OpenJobs } from "../../src/turns/scheduler/missing-turns.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { jobsProjector } from "./projector.ts";
import { jobTables } from "./tables.ts";

const { jobs, counts } = jobTables("");
const atOnce = 50;

type Group = { readonly tenant: string; readonly status: string };
type Row = { readonly id: string; readonly created_at: Date };

/** Queries tenant by tenant and status by status, as the index is ordered: jobs that have ended cost nothing. */
export const createOpenJobs = (db: Knex): OpenJobs => {
  const nextOf = (group: Group, last: Row | undefined): Promise<Row[]> =>
    db(jobs)
      .where(group)
      .modify((query) => {
        if (last !== undefined) void query.andWhereRaw("(created_at, id) > (?, ?)", [last.created_at, last.id]);
      })
      .orderBy(["created_at", "id"])
      .limit(atOnce)
      .select("id", "created_at");

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
