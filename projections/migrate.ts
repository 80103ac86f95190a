import type { Knex } from "knex";
import { migrationSource } from "../migrations/index.ts";
import { takeLock } from "../src/database/database-lock.ts";
import { exclusively } from "./following/projection-lock.ts";
import type { Projector } from "./projector.ts";
import { conditionOf, ensureTables } from "./rebuilding/table-set.ts";

const waitMs = 60_000;

/**
 * Brings the database up to date, from an empty one or from any earlier release. Any number of processes may call it at
 * once: one migrates, the others find it done. Tables of a projection that are of another version are left to a
 * rebuild.
 *
 * The additions of a newer release are left alone: during a rolling upgrade, and after a rollback, an older release has
 * to start on them.
 *
 * Knex keeps a lock of its own in a row of a table, which outlives a killed process and then locks every process out.
 * The holder of the server's lock here knows that no other process is migrating, so it can free that row.
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

/** The migrations of this release, in the order in which they run. */
export const migrationNames = (): Promise<readonly string[]> => migrationSource.getMigrations([]);

async function createMissingTables(db: Knex, projector: Projector): Promise<void> {
  const condition = await conditionOf(db, projector);
  if (condition === "whole" || condition === "other-version") return;
  await exclusively(db, projector.name, () => ensureTables(db, projector));
}
