import type { Knex } from "knex";
import { type HeldLock, takeLock } from "../../src/database/database-lock.ts";
import { rebuildLock } from "../following/projection-lock.ts";
import type { Projector } from "../projector.ts";

/** Somebody else is rebuilding the same projection, or checks it or puts it back: nothing was touched. */
export class RebuildRefused extends Error {
  override readonly name = "RebuildRefused";
}

/** A projection whose tables beside the live ones are nobody else's for as long as the lock is held. */
export type Held = { readonly projector: Projector; readonly lock: HeldLock };

/** The server frees the lock of somebody who has just ended a moment after it. */
const lastOneEndsMs = 1_000;

/**
 * Does something with the tables beside the live ones while nobody else does, of all these projections or of none. Throws
 * RebuildRefused where somebody is at it.
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
      if (lock === null) throw new RebuildRefused(`${projector.name} is being rebuilt already.`);
      held.push({ projector, lock });
    }
    return await work(held);
  } finally {
    for (const { lock } of held) lock.release();
  }
}
