import type { Knex } from "knex";
import type { Announcements } from "../src/event-log/announcements.ts";
import type { EventLog } from "../src/event-log/event-log.ts";
import { catchUp, type Progress } from "./catch-up.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { describeFailure } from "./database-failure.ts";
import { type HeldLock, takeLock } from "./database-lock.ts";
import { exclusively, rebuildLock } from "./projection-lock.ts";
import { type ProjectionStatus, readStatus, writeStatus } from "./projection-status.ts";
import type { Projector, Sources } from "./projector.ts";
import { shareFollowing } from "./share-following.ts";
import { swapTables } from "./swap-tables.ts";
import { createTables, dropTables, liveCheckpoint } from "./table-set.ts";

export type RebuildSetup = {
  readonly db: Knex;
  readonly log: EventLog;
  readonly sources: Sources;
  readonly announcements: Announcements;
  readonly onProgress: (progress: Progress) => void;
  /** Called with the name of each projection whose new tables are the live ones now. */
  readonly onRebuilt: (projection: string) => void;
};

/** Somebody else is rebuilding the same projection: nothing was touched. */
export class RebuildRefused extends Error {
  override readonly name = "RebuildRefused";
}

/** The server frees the lock of a rebuild that has just ended a moment after it. */
const lastOneEndsMs = 1_000;

/** All are as fast as the slowest together, and faster than each by itself: nobody waits for the result of some. */
const patienceMs = 30_000;

/**
 * Fills new tables from the beginning of the log, beside the live ones, which go on being written and read; then puts
 * them in their place with one rename for each projection. The log is read once for all of them. Works as well where no
 * projector is running, and where tables were dropped. Killed at any moment it leaves the old tables of a projection
 * live or the new ones, and the next rebuild begins afresh.
 *
 * Where one of them fails the others are rebuilt all the same, before it throws what went wrong.
 */
export async function rebuild(projectors: readonly Projector[], setup: RebuildSetup): Promise<void> {
  const held = await takeAllLocks(projectors, setup.db);
  try {
    // All begin to read at the same moment: somebody who came later would read the whole log for himself.
    const begun = await Promise.allSettled(held.map((one) => begin(one, setup.db)));
    const together = { ...setup, log: shareFollowing(setup.log, patienceMs) };
    const ready = begun.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const done = await Promise.allSettled(ready.map((one) => fillAndSwap(one, together)));
    throwFailures([...begun, ...done].flatMap((result) => (result.status === "rejected" ? [result.reason] : [])));
  } finally {
    for (const { lock } of held) lock.release();
  }
}

type Held = { readonly projector: Projector; readonly lock: HeldLock };

/** All or none. */
async function takeAllLocks(projectors: readonly Projector[], db: Knex): Promise<readonly Held[]> {
  const held: Held[] = [];
  try {
    for (const projector of projectors) {
      const lock = await takeLock(db, { name: rebuildLock(projector.name) }, lastOneEndsMs);
      if (lock === null) throw new RebuildRefused(`${projector.name} is being rebuilt already.`);
      held.push({ projector, lock });
    }
    return held;
  } catch (failure) {
    for (const { lock } of held) lock.release();
    throw failure;
  }
}

/** What stops all of them is said once. */
function throwFailures(failures: readonly unknown[]): void {
  const texts = new Set(failures.map(describeFailure));
  if (texts.size === 1) throw failures[0];
  if (texts.size > 1) throw new AggregateError(failures, [...texts].join("\n"));
}

type Begun = Held & { readonly before: ProjectionStatus | null };

async function begin({ projector, lock }: Held, db: Knex): Promise<Begun> {
  const before = await readStatus(db, projector.name);
  const begun = { projector, lock, before };
  return orElseAsBefore(begun, db, async () => {
    await writeStatus(db, projector, { ...before, status: "rebuilding" });
    await dropTables(db, projector, "__next");
    await dropTables(db, projector, "__previous");
    await createTables(db, projector, "__next");
    return begun;
  });
}

async function fillAndSwap(begun: Begun, setup: RebuildSetup): Promise<void> {
  const { projector, lock } = begun;
  const { db, announcements, onRebuilt } = setup;
  await orElseAsBefore(begun, db, async () => {
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
    onRebuilt(projector.name);
  });
}

/** The live projection goes on as it was where its rebuild fails. */
async function orElseAsBefore<Result>(
  { projector, before }: Begun,
  db: Knex,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
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
