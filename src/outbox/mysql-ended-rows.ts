import type { Knex } from "knex";
import type { EndedRows } from "./ended-rows.ts";

/** By the clock of the database, which has set the time of each row. */
export const createMysqlEndedRows = (db: Knex): EndedRows => ({
  remove: async (olderThanMs, limit) => {
    // Looked up first and removed by key, so that no row is locked but those that go.
    const ids: string[] = await db("outbox")
      .whereIn("status", ["processed", "failed"])
      .andWhereRaw("created_at < CURRENT_TIMESTAMP(3) - INTERVAL ? MICROSECOND", [olderThanMs * 1000])
      .limit(limit)
      .pluck("id");
    if (ids.length === 0) return 0;
    // Whoever wants one tried again has made it wait meanwhile: then it has not ended.
    return await db("outbox").whereIn("id", ids).whereNot("status", "pending").delete();
  },
});
