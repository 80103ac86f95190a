import type { Knex } from "knex";
import { type HeldLock, takeLock } from "../../src/database/database-lock.ts";
import { rebuildLock } from "../following/projection-lock.ts";
import type { Projector } from "../projector.ts";

/** Another process is rebuilding, checking or rolling back the same projection: nothing was touched. */
export class RebuildRefused extends Error {
  override readonly name = "RebuildRefused";
}

/** A projection whose tables beside the live ones belong to this process for as long as it holds the lock. */
export type Held = { readonly projector: Projector; readonly lock: HeldLock };

/** The server frees the lock of a process that has just ended after a moment. */
const lastOneEndsMs = 1_000;

/**
 * Runs the work on the tables beside the live ones while no other process does, for all these projections or for none.
 * Throws RebuildRefused if another process holds one of the locks.
 */
export async function holdingRebuildLocks<Result>(
  db: Knex,
  projectors: readonly Projector[],
  work: (held: readonly Held[]) => Promise<Result>,
): Promise<Result> {
  const held: Held[] = [];
  try {
    for (const projector of projectors) {
      const lock = await takeLock(db, { name: rebuildLock(projector.name) }, lastOneEndsMs);
      if (lock === null) {
        throw new RebuildRefused(`Another process is already rebuilding, checking or rolling back ${projector.name}.`);
      }
      held.push({ projector, lock });
    }
    return await work(held);
  } finally {
    for (const { lock } of held) lock.release();
  }
}
