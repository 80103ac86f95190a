import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { createDatabase } from "../../src/database/database.ts";
import { freshDatabase, type TestDatabase } from "../support/services.ts";

describe("a connection that is used all the time", () => {
  let database: TestDatabase;
  before(async () => {
    database = await freshDatabase();
  });
  after(() => database.drop());

  it("is made anew now and then, so that it finds the server that the name stands for by then", async () => {
    const db = createDatabase(database.url, { connections: 1, longestMs: 500 });
    const idNow = async (): Promise<number> => {
      const [[{ id }]] = await db.raw("SELECT CONNECTION_ID() AS id");
      return id;
    };
    const first = await idNow();
    expect(await idNow()).to.equal(first);
    const until = performance.now() + 1200;
    let last = first;
    while (performance.now() < until) {
      await pause(20);
      last = await idNow();
    }
    expect(last).to.not.equal(first);
    await db.destroy();
  });

  it("stays what it is for a whole transaction", async () => {
    const db = createDatabase(database.url, { connections: 1, longestMs: 100 });
    await db.transaction(async (transaction) => {
      const idNow = async () => (await transaction.raw("SELECT CONNECTION_ID() AS id"))[0][0].id;
      const first = await idNow();
      await pause(300);
      expect(await idNow()).to.equal(first);
    });
    await db.destroy();
  });
});
