import type { Knex } from "knex";
import type { Announcements } from "../src/event-log/announcements.ts";
import type { EventLog } from "../src/event-log/event-log.ts";
import { catchUp, type Progress } from "./catch-up.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { type HeldLock, takeLock } from "./database-lock.ts";
import { exclusively, rebuildLock } from "./projection-lock.ts";
import { readStatus, writeStatus } from "./projection-status.ts";
import type { Projector, Sources } from "./projector.ts";
import { swapTables } from "./swap-tables.ts";
import { createTables, dropTables, liveCheckpoint } from "./table-set.ts";

export type RebuildSetup = {
  readonly db: Knex;
  readonly log: EventLog;
  readonly sources: Sources;
  readonly announcements: Announcements;
  readonly onProgress: (progress: Progress) => void;
};

/** Somebody else is rebuilding the same projection: nothing was touched. */
export class RebuildRefused extends Error {
  override readonly name = "RebuildRefused";
}

/** The server frees the lock of a rebuild that has just ended a moment after it. */
const lastOneEndsMs = 1_000;

/**
 * Fills new tables from the beginning of the log, beside the live ones, which go on being written and read; then puts
 * them in their place with one rename. Works as well where no projector is running, and where tables were dropped.
 * Killed at any moment it leaves the old tables live or the new ones, and the next rebuild begins afresh.
 */
export async function rebuild(projectors: readonly Projector[], setup: RebuildSetup): Promise<void> {
  for (const projector of projectors) {
    const lock = await takeLock(setup.db, { name: rebuildLock(projector.name) }, lastOneEndsMs);
    if (lock === null) throw new RebuildRefused(`${projector.name} is being rebuilt already.`);
    try {
      await rebuildUnderLock(projector, setup, lock);
    } finally {
      lock.release();
    }
  }
}

async function rebuildUnderLock(projector: Projector, setup: RebuildSetup, lock: HeldLock): Promise<void> {
  const { db, announcements } = setup;
  const before = await readStatus(db, projector.name);
  await writeStatus(db, projector, { ...before, status: "rebuilding" });
  try {
    await dropTables(db, projector, "__next");
    await dropTables(db, projector, "__previous");
    await createTables(db, projector, "__next");
    // Most of the way while the live projection goes on; what came in meanwhile is little, and for that it waits.
    await fill(projector, setup, 0, lock.over);
    const reached = await exclusively(db, projector.name, async (live) => {
      const over = AbortSignal.any([lock.over, live.over]);
      const last = await fill(projector, setup, await liveSequence(projector, setup), over);
      await swapTables(db, projector);
      return last;
    });
    await writeStatus(db, projector, { status: "live" });
    announcements.announce(projector.name, reached.sequence);
  } catch (failure) {
    await writeStatus(db, projector, before ?? { status: "live" }).catch(() => {});
    throw failure;
  }
}

async function fill(
  projector: Projector,
  { db, log, sources, onProgress }: RebuildSetup,
  atLeast: number,
  signal: AbortSignal,
): Promise<Checkpoint> {
  const from = await readCheckpoint(db, projector.name, "__next");
  if (from === null) throw new Error(`The new tables of ${projector.name} are gone.`);
  const place = { db, projector, suffix: "__next", sources } as const;
  return catchUp({ place, log, from, atLeast, onProgress }, signal);
}

/** What readers have seen already must be in the new tables too; 0 where the live ones are of no use any more. */
async function liveSequence(projector: Projector, { db, log }: RebuildSetup): Promise<number> {
  const live = await liveCheckpoint(db, projector);
  const { createdAt, lastSequence } = await log.state();
  return live !== null && live.logCreatedAt === createdAt && live.sequence <= lastSequence ? live.sequence : 0;
}
