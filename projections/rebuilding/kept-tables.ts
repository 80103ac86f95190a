import type { Knex } from "knex";
import { isLockFree } from "../../src/database/database-lock.ts";
import { type Checkpoint, checkpointTable, readCheckpoint } from "../following/checkpoint.ts";
import { rebuildLock } from "../following/projection-lock.ts";
import { type ProjectionStatus, readStatus } from "../following/projection-status.ts";
import type { Projector, Suffix } from "../projector.ts";
import { holdingRebuildLocks } from "./rebuild-lock.ts";
import { dropTables, existing, liveCheckpoint, tableNames } from "./table-set.ts";

/** Drops the tables that rebuilds have kept. Returns the projections that had any. */
export async function confirmRebuilds(db: Knex, projectors: readonly Projector[]): Promise<readonly string[]> {
  return holdingRebuildLocks(db, projectors, async () => {
    const dropped: string[] = [];
    for (const projector of projectors) {
      if (await hasTables(db, projector, "__previous")) dropped.push(projector.name);
      await dropTables(db, projector, "__previous");
      await dropTables(db, projector, "__dropped");
    }
    return dropped;
  });
}

/**
 * After an erasure, tables beside the live ones may still hold the erased data: kept tables, and tables that an
 * interrupted process left. A process that works on the latter handles the same erasure there.
 */
export async function dropCopies(db: Knex, projector: Projector): Promise<void> {
  const isUnlocked = await isLockFree(db, rebuildLock(projector.name));
  const suffixes: readonly Suffix[] = ["__previous", ...(isUnlocked ? (["__next", "__check"] as const) : [])];
  for (const suffix of suffixes) {
    if (await hasTables(db, projector, suffix)) await dropTables(db, projector, suffix);
  }
}

/** Tables that an interrupted process had renamed in order to drop them. */
export async function dropUnwanted(db: Knex, projector: Projector): Promise<void> {
  if (await hasTables(db, projector, "__dropped")) await dropTables(db, projector, "__dropped");
}

export type TableSets = {
  readonly projection: string;
  /** Null before it ran for the first time. */
  readonly status: ProjectionStatus["status"] | null;
  /** Why it stopped, and before which event. */
  readonly error: string | null;
  readonly stoppedAtSequence: number | null;
  readonly isAtWork: boolean;
  readonly live: Checkpoint | null;
  readonly kept: Checkpoint | null;
  /** The tables of a rebuild that is in progress or was interrupted. */
  readonly next: Checkpoint | null;
};

/** The existing sets of tables of each projection. */
export const readTableSets = (db: Knex, projectors: readonly Projector[]): Promise<readonly TableSets[]> =>
  Promise.all(
    projectors.map(async (projector) => {
      const status = await readStatus(db, projector.name);
      return {
        projection: projector.name,
        status: status?.status ?? null,
        error: status?.error ?? null,
        stoppedAtSequence: status?.stoppedAtSequence ?? null,
        isAtWork: !(await isLockFree(db, rebuildLock(projector.name))),
        live: await liveCheckpoint(db, projector),
        kept: await checkpointOf(db, projector, "__previous"),
        next: await checkpointOf(db, projector, "__next"),
      };
    }),
  );

/** Includes tables of another release, and incomplete sets. */
async function checkpointOf(db: Knex, projector: Projector, suffix: Suffix): Promise<Checkpoint | null> {
  const found = await existing(db, [checkpointTable(projector.name, suffix)]);
  return found.length === 0 ? null : readCheckpoint(db, projector.name, suffix);
}

const hasTables = async (db: Knex, projector: Projector, suffix: Suffix): Promise<boolean> =>
  (await existing(db, tableNames(projector, suffix))).length > 0;
