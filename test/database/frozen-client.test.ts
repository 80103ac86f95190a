import { expect } from "chai";
import type { Knex } from "knex";
import {
  abandonConnection,
  createDatabase,
  inTransaction,
  openConnection,
  waitWithoutLimit,
} from "../../src/database/database.ts";
import { isDatabaseTrouble } from "../../src/database/database-failure.ts";
import { ask } from "../../src/database/session.ts";
import { failureOf } from "../support/failure-of.ts";
import { freshDatabase, type TestDatabase } from "../support/services.ts";

describe("a process that freezes in the middle of a transaction", () => {
  let database: TestDatabase;
  let db: Knex;
  before(async () => {
    database = await freshDatabase();
    db = createDatabase(database.url);
    await db.raw("CREATE TABLE places (id INT PRIMARY KEY, sequence INT NOT NULL) ENGINE = InnoDB");
    await db("places").insert({ id: 1, sequence: 0 });
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  it("loses its locks once it has been silent for too long, and others write what it had locked", async () => {
    const frozen = createDatabase(database.url, { silenceMs: 500 });
    const outcome = inTransaction(frozen, async (transaction) => {
      await transaction("places").where({ id: 1 }).update({ sequence: 7 });
      // As if it were stopped: it says nothing, and does not notice how long it has said nothing.
      waitWithoutLimit(await transaction.client.acquireConnection());
      // Fails where the lock stays: this client bears ten seconds of silence.
      await db("places").where({ id: 1, sequence: 0 }).update({ sequence: 1 });
    });
    const failure = await failureOf(outcome);
    expect(failure).not.to.have.property("name", "DatabaseSilent");
    expect(isDatabaseTrouble(failure), failure.message).to.equal(true);
    expect(await db("places").pluck("sequence")).to.deep.equal([1]);
    await frozen.destroy();
  });

  it("may be silent for longer than it bears silence itself", async () => {
    for (const [silenceMs, seconds] of [
      [10_000, 20],
      [600_000, 300],
    ] as const) {
      const own = createDatabase(database.url, { silenceMs });
      const [[found]] = await own.raw("SELECT @@SESSION.wait_timeout AS seconds");
      expect(found).to.deep.equal({ seconds });
      await own.destroy();
    }
  });

  it("loses a connection outside the pool as soon, with the snapshot and the locks that it has", async () => {
    const own = await openConnection(db);
    const found = await ask(own, "SELECT @@SESSION.wait_timeout AS seconds");
    expect(found).to.deep.equal([{ seconds: 20 }]);
    abandonConnection(own);
  });

  it("holds up no statement that changes a table for longer than its client waits", async () => {
    const [[found]] = await db.raw("SELECT @@SESSION.lock_wait_timeout AS seconds");
    expect(found).to.deep.equal({ seconds: 5 });
  });
});
