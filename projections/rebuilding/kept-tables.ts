import type { Knex } from "knex";
import { isLockFree } from "../../src/database/database-lock.ts";
import { type Checkpoint, checkpointTable, readCheckpoint } from "../following/checkpoint.ts";
import { rebuildLock } from "../following/projection-lock.ts";
import { type ProjectionStatus, readStatus } from "../following/projection-status.ts";
import type { Projector, Suffix } from "../projector.ts";
import { holdingRebuildLocks } from "./rebuild-lock.ts";
import { dropTables, existing, liveCheckpoint, tableNames } from "./table-set.ts";

/** Drops what rebuilds have kept. Answers of which projections there was something. */
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
 * Something was erased, and the tables beside the live ones may still hold it: those that were kept, and what somebody
 * left who was interrupted. Whoever is at work on the latter meets the same erasure by himself.
 */
export async function dropCopies(db: Knex, projector: Projector): Promise<void> {
  const isNobodyAtWork = await isLockFree(db, rebuildLock(projector.name));
  const suffixes: readonly Suffix[] = ["__previous", ...(isNobodyAtWork ? (["__next", "__check"] as const) : [])];
  for (const suffix of suffixes) {
    if (await hasTables(db, projector, suffix)) await dropTables(db, projector, suffix);
  }
}

/** What somebody put aside to drop it, and was interrupted. */
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
  /** Of a rebuild that goes on or was interrupted. */
  readonly next: Checkpoint | null;
};

/** What there is of each projection. */
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

/** Also of tables of another release, and of a set that is not whole. */
async function checkpointOf(db: Knex, projector: Projector, suffix: Suffix): Promise<Checkpoint | null> {
  const found = await existing(db, [checkpointTable(projector.name, suffix)]);
  return found.length === 0 ? null : readCheckpoint(db, projector.name, suffix);
}

const hasTables = async (db: Knex, projector: Projector, suffix: Suffix): Promise<boolean> =>
  (await existing(db, tableNames(projector, suffix))).length > 0;
