import type { Knex } from "knex";
import { migrationSource } from "../migrations/index.ts";
import { takeLock } from "../src/database/database-lock.ts";
import { exclusively } from "./following/projection-lock.ts";
import type { Projector } from "./projector.ts";
import { conditionOf, ensureTables } from "./rebuilding/table-set.ts";

const waitMs = 60_000;

/**
 * Brings the database up to date, from nothing or from any earlier release. Any number of processes may do so at once:
 * one does, the others find it done. Tables of a projection that are of another version are left to a rebuild.
 *
 * What a newer release has added is left alone: while releases are exchanged, and when one is taken back, an older one
 * has to start on it.
 *
 * Knex keeps a lock of its own in a row of a table, which outlives a process that is killed and then locks everybody
 * out. Whoever holds the server's lock here knows that nobody is migrating, so that row can be freed.
 */
export async function migrate(db: Knex, projectors: readonly Projector[]): Promise<void> {
  const lock = await takeLock(db, { name: "migrate" }, waitMs);
  if (lock === null) throw new Error(`Another process has been migrating the database for ${waitMs / 1000} seconds.`);
  try {
    await db.migrate.forceFreeMigrationsLock({ migrationSource });
    await db.migrate.latest({ migrationSource, disableTransactions: true, disableMigrationsListValidation: true });
    for (const projector of projectors) await createMissingTables(db, projector);
  } finally {
    lock.release();
  }
}

/** Of this release, in the order in which they run. */
export const migrationNames = (): Promise<readonly string[]> => migrationSource.getMigrations([]);

async function createMissingTables(db: Knex, projector: Projector): Promise<void> {
  const condition = await conditionOf(db, projector);
  if (condition === "whole" || condition === "other-version") return;
  await exclusively(db, projector.name, () => ensureTables(db, projector));
}
