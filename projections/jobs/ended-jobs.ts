import type { Knex } from "knex";
import type { EndedJobs } from "../../src/erasure/retention.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { ReadPositions } from "../following/read-position.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { toDate } from "../instants.ts";
import { jobsProjector } from "./projector.ts";
import { jobTables } from "./tables.ts";

const { jobs, counts } = jobTables("");

/**
 * The read models that show a job: the next round finds other jobs once these read models have deleted the earlier
 * ones.
 */
const followers = ["jobs", "dead-letters"];
const followMs = 30_000;

/** Queries tenant by tenant, as the index is ordered: a search by end time alone would scan every row. */
export const createEndedJobs = (db: Knex, positions: ReadPositions): EndedJobs =>
  onReadableRows(db, jobsProjector, {
    before: async (time, limit) => {
      const tenants: { tenant: string }[] = await db(counts).distinct("tenant").orderBy("tenant");
      const found: JobRef[] = [];
      for (const { tenant } of tenants) {
        if (found.length === limit) break;
        const rows: { id: string }[] = await db(jobs)
          .where({ tenant })
          .andWhere("completed_at", "<", toDate(time))
          .orderBy("completed_at")
          .limit(limit - found.length)
          .select("id");
        found.push(...rows.map(({ id }) => ({ tenant, jobId: id })));
      }
      return found;
    },
    include: async (sequence) => {
      const all = await Promise.all(followers.map((name) => positions.waitFor(name, sequence, followMs)));
      return all.every((isThere) => isThere);
    },
  });
