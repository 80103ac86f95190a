import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase } from "../../src/database/database.ts";
import { takeLock } from "../../src/database/database-lock.ts";
import { withClockSet } from "../support/clock.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, type TestDatabase } from "../support/services.ts";

describe("A lock of the database", () => {
  let database: TestDatabase;
  let db: Knex;

  before(async () => {
    database = await freshDatabase();
    db = createDatabase(database.url);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  it("is waited for no longer than asked where the clock is set back meanwhile", async () => {
    const held = await takeLock(db, { name: "one" }, 0);
    const waiting = takeLock(db, { name: "one" }, 1500);
    await eventually(async () => {
      const asking = "db = DATABASE() AND info LIKE 'SELECT GET_LOCK%'";
      const [rows] = await db.raw(`SELECT id FROM information_schema.processlist WHERE ${asking}`);
      expect(rows).to.have.lengthOf(1);
    });
    const stopped = pause(5000, "still waiting", { ref: false });
    expect(await withClockSet(-3_600_000, () => Promise.race([waiting, stopped]))).to.equal(null);
    held?.release();
    await waiting;
  });
});
