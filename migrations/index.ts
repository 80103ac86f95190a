import type { Knex } from "knex";
import * as projections from "./0001-projections.ts";
import * as outbox from "./0002-outbox.ts";
import * as rememberedSeals from "./0003-remembered-seals.ts";
import * as outboxByAge from "./0004-outbox-by-age.ts";
import * as rebuildRequests from "./0005-rebuild-requests.ts";

/** In the order in which they run. A released name never changes, nor does its migration. */
const migrations: Readonly<Record<string, Knex.Migration>> = {
  "0001-projections": projections,
  "0002-outbox": outbox,
  "0003-remembered-seals": rememberedSeals,
  "0004-outbox-by-age": outboxByAge,
  "0005-rebuild-requests": rebuildRequests,
};

/** By name and not by file: the compiled tree has other extensions than the source, and uses the same database. */
export const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: async () => Object.keys(migrations),
  getMigrationName: (name) => name,
  getMigration: async (name) => migrations[name] as Knex.Migration,
};
