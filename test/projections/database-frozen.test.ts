import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import type { Knex } from "knex";
import { createDatabase } from "../../src/database/database.ts";
import { isDatabaseTrouble } from "../../src/database/database-failure.ts";
import { startOwnMysql, type TestMysql } from "../support/services.ts";

/** Long enough for the pool to dismiss idle connections before their own timers end them. */
const silenceMs = 2500;

describe("the connections to a database that freezes", function () {
  this.timeout(120_000);

  let mysql: TestMysql;
  let db: Knex;

  const read = (): Promise<unknown> => Promise.resolve(db.raw("SELECT 1"));
  const readThirty = () => Promise.allSettled(Array.from({ length: 30 }, read));

  before(async () => {
    mysql = await startOwnMysql();
    db = createDatabase((await mysql.freshDatabase()).url, { silenceMs });
  });
  after(async () => {
    await mysql.resume();
    await db.destroy();
    await mysql.cleanUp();
  });

  it("are given up one by one, idle or in use, and every error reaches only its caller", async () => {
    expect((await readThirty()).filter(({ status }) => status === "rejected")).to.deep.equal([]);
    // It cannot be answered before the server stands still, as its answer takes longer than that.
    const inFlight = Promise.resolve(db.raw("SELECT SLEEP(2)")).catch((failure: unknown) => failure);
    mysql.suspend();
    const frozenAt = Date.now();
    // The connections idle: the pool dismisses them, and afterwards their timers find them silent.
    await pause(2.5 * silenceMs);
    const failures = [
      await inFlight,
      ...(await readThirty()).map((outcome) => outcome.status === "rejected" && outcome.reason),
    ];
    for (const failure of failures) expect(isDatabaseTrouble(failure), String(failure)).to.equal(true);
    expect(Date.now() - frozenAt).to.be.greaterThan(2 * silenceMs);
    await mysql.resume();
    expect((await readThirty()).filter(({ status }) => status === "rejected")).to.deep.equal([]);
  });
});
