import { expect } from "chai";
import type { Knex } from "knex";
import { migrationSource } from "../../migrations/index.ts";
import { allProjectors } from "../../projections/all-projectors.ts";
import { jobsProjector } from "../../projections/jobs/projector.ts";
import { migrate } from "../../projections/migrate.ts";
import { createDatabase } from "../../src/database/database.ts";
import { eventually } from "../support/eventually.ts";
import { jobCreated } from "../support/examples.ts";
import { newJob } from "../support/happen.ts";
import { outcomesProjector } from "../support/outcomes-projector.ts";
import { openReadSide } from "../support/read-side.ts";
import { freshDatabase, type TestDatabase } from "../support/services.ts";

describe("bringing a database up to date", () => {
  let database: TestDatabase;
  let db: Knex;
  beforeEach(async () => {
    database = await freshDatabase();
    db = createDatabase(database.url);
  });
  afterEach(async () => {
    await db.destroy();
    await database.drop();
  });

  const tables = async (): Promise<readonly string[]> => {
    const [rows] = await db.raw(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()",
    );
    return (rows as { name: string }[]).map(({ name }) => name);
  };

  it("makes what is there for people and every projection's own tables and views", async () => {
    await migrate(db, allProjectors);
    expect(await tables()).to.include.members([
      "projections",
      "jobs",
      "jobs_content",
      "jobs_ledgers",
      "jobs_checkpoint",
      "email_jobs",
      "recipients",
      "email_logs",
      "waiting",
      "waiting_checkpoint",
    ]);
    expect(await db("email_jobs").select()).to.deep.equal([]);
  });

  it("leaves alone what a newer release has added", async () => {
    await migrate(db, allProjectors);
    await db("knex_migrations").insert({ name: "9999-of-a-newer-release", batch: 2, migration_time: new Date() });
    await db.schema.dropTable("waiting_checkpoint");
    await migrate(db, allProjectors);
    expect(await tables()).to.include("waiting_checkpoint");
    expect(await db("knex_migrations").where({ name: "9999-of-a-newer-release" }).select("name")).to.have.lengthOf(1);
  });

  it("changes nothing the second time, nor when several do it at once", async function () {
    this.timeout(120_000);
    const others = [1, 2, 3].map(() => createDatabase(database.url));
    await Promise.all(others.map((other) => migrate(other, allProjectors)));
    await Promise.all(others.map((other) => other.destroy()));
    const before = await tables();
    await db("waiting_checkpoint").update({ sequence: 7 });
    await migrate(db, allProjectors);
    expect(await tables()).to.have.members(before as string[]);
    expect(await db("waiting_checkpoint").select("sequence")).to.deep.equal([{ sequence: 7 }]);
  });

  it("goes on where a process was killed that held the lock of the migrations", async () => {
    await migrate(db, allProjectors);
    await db("knex_migrations_lock").update({ is_locked: 1 });
    await db("knex_migrations").delete();
    await migrate(db, allProjectors);
    const names = await migrationSource.getMigrations([]);
    expect(await db("knex_migrations").orderBy("id").pluck("name")).to.deep.equal(names);
  });

  it("makes the tables of a projection anew where one of them is gone, and a view alone where only that is", async () => {
    const projectors = [...allProjectors, outcomesProjector];
    await migrate(db, projectors);
    await db("jobs_checkpoint").update({ sequence: 7 });
    await db("outcomes_checkpoint").update({ sequence: 7 });
    await db.schema.dropTable("jobs_ledgers");
    await db.schema.dropView("all_outcomes");
    await migrate(db, projectors);
    expect(await db("jobs_checkpoint").select("sequence")).to.deep.equal([{ sequence: 0 }]);
    expect(await db("outcomes_checkpoint").select("sequence")).to.deep.equal([{ sequence: 7 }]);
    expect(await db("all_outcomes").select()).to.deep.equal([]);
  });

  it("is not in the way of projectors that are running, nor they in its way", async () => {
    const side = await openReadSide();
    try {
      side.startProjectors();
      await side.happens(newJob(), jobCreated());
      await side.caughtUp();
      await side.db.schema.dropTable("jobs");
      await migrate(side.db, [jobsProjector, outcomesProjector]);
      await eventually(async () =>
        expect(await side.db("jobs").select("status")).to.deep.equal([{ status: "queued" }]),
      );
    } finally {
      await side.cleanUp();
    }
  });
});
