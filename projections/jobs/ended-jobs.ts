import type { Knex } from "knex";
import type { Instant } from "../../src/domain/message.ts";
import type { EndedJobs } from "../../src/erasure/retention.ts";
import type { JobRef } from "../../src/event-log/event-log.ts";
import type { ReadPositions } from "../following/read-position.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { toDate } from "../instants.ts";
import { mailingTables } from "./mailings/rows.ts";
import { jobsProjector } from "./projector.ts";
import { jobTables } from "./tables.ts";

const { jobs } = jobTables("");
const { mailings } = mailingTables("");

/**
 * The read models that show a job: the next round finds other jobs once these read models have deleted the earlier
 * ones.
 */
const followers = ["jobs", "dead-letters"];
const followMs = 30_000;

type Ended = { readonly table: string; readonly since: string; readonly key: string };

const endedJobs: Ended = { table: jobs, since: "completed_at", key: "by_completion" };
const restingMailings: Ended = { table: mailings, since: "resting_since", key: "by_rest" };

/**
 * The keys are ordered by tenant: a search by time alone would scan every row. The server skips from one tenant's oldest entry
 * to the next one's: ten thousand take it 20 ms. Only those that have any are asked for more.
 */
export const createEndedJobs = (db: Knex, positions: ReadPositions): EndedJobs => {
  const oldest = async ({ table, since, key }: Ended, time: Instant, limit: number): Promise<readonly JobRef[]> => {
    const sql = "SELECT tenant, MIN(??) FROM ?? FORCE INDEX (??) WHERE ?? < ? GROUP BY tenant LIMIT ?";
    const [tenants] = (await db.raw(sql, [since, table, key, since, toDate(time), limit])) as [{ tenant: string }[]];
    const found: JobRef[] = [];
    for (const { tenant } of tenants) {
      if (found.length === limit) break;
      const rows: { id: string }[] = await db(table)
        .where({ tenant })
        .andWhere(since, "<", toDate(time))
        .orderBy(since)
        .limit(limit - found.length)
        .select("id");
      found.push(...rows.map(({ id }) => ({ tenant, jobId: id })));
    }
    return found;
  };

  return onReadableRows(db, jobsProjector, {
    now: async () => {
      const [rows] = await db.raw("SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED) AS now");
      return Number((rows as readonly { readonly now: unknown }[])[0]?.now);
    },
    before: (time, limit) => oldest(endedJobs, time, limit),
    mailingsRestingBefore: (time, limit) => oldest(restingMailings, time, limit),
    include: async (sequence) => {
      const all = await Promise.all(followers.map((name) => positions.waitFor(name, sequence, followMs)));
      return all.every((isThere) => isThere);
    },
  });
};
