import type { Knex } from "knex";
import * as projections from "./0001-projections.ts";

/** In the order in which they run. A name that was released is never changed, nor is what it stands for. */
const migrations: Readonly<Record<string, Knex.Migration>> = {
  "0001-projections": projections,
};

/** By name and not by file: the compiled tree has other extensions than the source, and the same database. */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(migrations),
  getMigrationName: (name) => name,
  getMigration: async (name) => migrations[name] as Knex.Migration,
};
