import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase } from "../../src/database/database.ts";
import { isDatabaseTrouble } from "../../src/database/database-failure.ts";
import { askPrepared } from "../../src/database/prepared.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { freshDatabase, type TestDatabase } from "../support/services.ts";

/** Long enough to be seen at work, also on a busy machine. */
const statementMs = 2000;
/** Hours of work over a few rows, without any table of ours. */
const tables = ["a", "b", "c", "d", "e"].map((alias) => `information_schema.collations AS ${alias}`).join(", ");
const endless = (mark: string): string => `SELECT COUNT(*) AS ${mark} FROM ${tables}`;

describe("a query that takes longer than its deadline", () => {
  let database: TestDatabase;
  let db: Knex;
  let reads: Knex;
  before(async () => {
    database = await freshDatabase();
    db = createDatabase(database.url);
    reads = createDatabase(database.url, { statementMs });
  });
  after(async () => {
    await reads.destroy();
    await db.destroy();
    await database.drop();
  });

  const isRunning = async (mark: string): Promise<boolean> => {
    const [rows] = (await db.raw("SHOW FULL PROCESSLIST")) as [{ Info: string | null }[]];
    return rows.some(({ Info }) => Info?.includes(`AS ${mark} FROM`));
  };

  it("is ended by the database, prepared or not, and the connection serves on", async () => {
    const asked = {
      plain: async () => reads.raw(endless("plain")),
      prepared: () => askPrepared(reads, { sql: endless("prepared"), bindings: [] }),
    };
    for (const [mark, ask] of Object.entries(asked)) {
      const failure = await failureOf(ask());
      expect(isDatabaseTrouble(failure), failure.message).to.equal(true);
      // The server tells of the failure before it is through with the query.
      await eventually(async () => expect(await isRunning(mark), mark).to.equal(false));
    }
    expect(await askPrepared(reads, { sql: "SELECT 1 AS one", bindings: [] })).to.have.lengthOf(1);
  });

  it("is ended where no caller waits for it any more", async () => {
    const abandoned = askPrepared(reads, { sql: endless("abandoned"), bindings: [] }).catch(() => {});
    await eventually(async () => expect(await isRunning("abandoned")).to.equal(true));
    await eventually(async () => expect(await isRunning("abandoned")).to.equal(false));
    await abandoned;
  });
});
