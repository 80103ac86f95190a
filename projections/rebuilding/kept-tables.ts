import type { Knex } from "knex";
import { abandonConnection, openConnection } from "../../src/database/database.ts";
import { isLockFree, tryLock } from "../../src/database/database-lock.ts";
import { ask } from "../../src/database/session.ts";
import { TableHeld } from "../../src/database/table-held.ts";
import {
  type Checkpoint,
  checkpointTable,
  lacksErasure,
  noteErasure,
  readCheckpoint,
} from "../following/checkpoint.ts";
import { rebuildLock } from "../following/projection-lock.ts";
import { type ProjectionStatus, readStatus } from "../following/projection-status.ts";
import type { Projector, Suffix } from "../projector.ts";
import { holdingRebuildLocks } from "./rebuild-lock.ts";
import { dropTables, existing, foundTables, liveCheckpoint } from "./table-set.ts";

/** Drops the tables that rebuilds have kept. Returns the projections that had any. */
export async function confirmRebuilds(db: Knex, projectors: readonly Projector[]): Promise<readonly string[]> {
  return holdingRebuildLocks(db, projectors, async () => {
    const dropped: string[] = [];
    for (const projector of projectors) {
      if ((await foundTables(db, projector)).has("__previous")) dropped.push(projector.name);
      await dropTables(db, projector, "__previous");
      await dropTables(db, projector, "__dropped");
    }
    return dropped;
  });
}

/**
 * After an erasure, tables beside the live ones still hold the erased data: kept tables, and tables that an interrupted
 * process has left. This is noted in them, so that they are dropped later where they cannot be dropped now. A process that
 * works on its tables handles the same erasure there.
 */
export async function dropCopies(db: Knex, projector: Projector, erasedAt: number): Promise<void> {
  const found = await foundTables(db, projector);
  for (const suffix of copies) if (found.has(suffix)) await noteErasure(db, projector.name, suffix, erasedAt);
  await dropUnwanted(db, projector).catch((failure: unknown) => {
    if (!(failure instanceof TableHeld)) throw failure;
  });
}

const copies: readonly Suffix[] = ["__previous", "__next"];
/** A projection waits for it, and so do all who want to read the table. */
const waitForReadersSeconds = 1;

/**
 * Drops tables that nobody can use any more: those that a process had renamed in order to drop them, kept tables that lack an
 * erasure, and, while no process works on them, those that a check or a rebuild has left: of a rebuild, if they lack an
 * erasure, or no other could go on with them. Throws TableHeld, after it has dropped the others.
 */
export async function dropUnwanted(db: Knex, projector: Projector): Promise<void> {
  if ((await findUnwanted(db, projector)).length === 0) return;
  const connection = await openConnection(db);
  try {
    await ask(connection, "SET SESSION lock_wait_timeout = ?", [waitForReadersSeconds]);
    // On one connection: where it is lost, so is the lock, and nothing more is dropped.
    const isAlone = await tryLock(connection, rebuildLock(projector.name));
    const run = (sql: string): Promise<unknown> => ask(connection, sql);
    let held: unknown = null;
    for (const suffix of await findUnwanted(db, projector)) {
      if (!isAlone && (suffix === "__next" || suffix === "__check")) continue;
      await dropTables(db, projector, suffix, run).catch((failure: unknown) => {
        if (!(failure instanceof TableHeld)) throw failure;
        held = failure;
      });
    }
    if (held !== null) throw held;
  } finally {
    abandonConnection(connection);
  }
}

async function findUnwanted(db: Knex, projector: Projector): Promise<readonly Suffix[]> {
  const found = await foundTables(db, projector);
  const unwanted = (["__dropped", "__check"] as const).filter((suffix) => found.has(suffix));
  const stale: Suffix[] = [];
  for (const suffix of copies) {
    if (found.has(suffix) && (await lacksErasure(db, projector.name, suffix))) stale.push(suffix);
  }
  return [...unwanted, ...stale];
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
