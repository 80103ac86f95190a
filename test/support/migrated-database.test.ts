import { expect } from "chai";
import type { Knex } from "knex";
import { allProjectors } from "../../projections/all-projectors.ts";
import { checkpointTable } from "../../projections/following/checkpoint.ts";
import { migrate } from "../../projections/migrate.ts";
import { createDatabase } from "../../src/database/database.ts";
import { migratedDatabase } from "./migrated-database.ts";
import { outcomesProjector } from "./outcomes-projector.ts";
import { freshDatabase, type TestDatabase } from "./services.ts";

const projectors = [...allProjectors, outcomesProjector];

/** What each information schema says of a database, without the name of the database. */
const asked = [
  "SELECT table_name, column_name, column_type, column_default, is_nullable, extra, generation_expression, collation_name FROM information_schema.columns",
  "SELECT table_name, index_name, seq_in_index, column_name, non_unique, sub_part FROM information_schema.statistics",
  "SELECT table_name, table_type, engine, table_collation FROM information_schema.tables",
];

async function everythingOf(db: Knex): Promise<readonly string[]> {
  const facts: string[] = [];
  for (const select of asked) {
    const [rows] = (await db.raw(`${select} WHERE table_schema = DATABASE()`)) as [readonly object[]];
    facts.push(...rows.map((row) => JSON.stringify(row)));
  }
  for (const { name } of projectors) facts.push(JSON.stringify(await db(checkpointTable(name)).count()));
  facts.push(JSON.stringify(await db("knex_migrations").orderBy("id").select("name", "batch")));
  return facts.sort();
}

describe("a database with all tables, for a test", () => {
  const databases: TestDatabase[] = [];
  const connections: Knex[] = [];

  const open = (database: TestDatabase): Knex => {
    databases.push(database);
    const db = createDatabase(database.url);
    connections.push(db);
    return db;
  };
  after(async () => {
    await Promise.all(connections.map((db) => db.destroy()));
    await Promise.all(databases.map(({ drop }) => drop()));
  });

  it("is what a migration leaves, whether it was migrated or copied", async () => {
    const migrated = open(await freshDatabase());
    await migrate(migrated, projectors);
    const expected = await everythingOf(migrated);
    for (const database of [await migratedDatabase(), await migratedDatabase()]) {
      expect(await everythingOf(open(database))).to.deep.equal(expected);
    }
  });

  it("is taken for what it is by the next migration", async () => {
    const copied = open(await migratedDatabase());
    const before = await everythingOf(copied);
    await migrate(copied, projectors);
    expect(await everythingOf(copied)).to.deep.equal(before);
  });
});
