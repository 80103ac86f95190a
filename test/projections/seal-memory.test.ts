import { expect } from "chai";
import type { Knex } from "knex";
import { allProjectors } from "../../projections/all-projectors.ts";
import { migrate } from "../../projections/migrate.ts";
import { createSealMemory, forgetSeals } from "../../projections/seal-memory.ts";
import { createDatabase } from "../../src/database/database.ts";
import { freshDatabase, type TestDatabase } from "../support/services.ts";

const digest = (of: string): string => of.repeat(64);

describe("What the database remembers of the log's seals", () => {
  let database: TestDatabase;
  let db: Knex;

  before(async () => {
    database = await freshDatabase();
    db = createDatabase(database.url);
    await migrate(db, allProjectors);
  });
  after(async () => {
    await db.destroy();
    await database.drop();
  });

  it("is the last of each log: an older one, and the same again, change nothing", async () => {
    const [one, other] = [createSealMemory(db, "JOBS"), createSealMemory(db, "green_JOBS")];
    expect(await one.last()).to.equal(null);
    await Promise.all([11, 22, 15, 22].map((sequence) => one.remember({ sequence, digest: digest("a") })));
    await one.remember({ sequence: 22, digest: digest("b") });
    await one.remember({ sequence: 11, digest: digest("c") });
    expect(await one.last()).to.deep.equal({ sequence: 22, digest: digest("a") });
    expect(await other.last()).to.equal(null);
    await other.remember({ sequence: 7, digest: digest("d") });
    await forgetSeals(db, "JOBS");
    expect(await one.last()).to.equal(null);
    expect(await other.last()).to.deep.equal({ sequence: 7, digest: digest("d") });
  });
});
