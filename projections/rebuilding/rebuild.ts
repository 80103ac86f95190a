import { isOfSettledLog } from "../../src/event-log/following/settled-log.ts";
import { asOne, shareFollowing } from "../../src/event-log/following/share-following.ts";
import { writeStatus } from "../following/projection-status.ts";
import type { Projector } from "../projector.ts";
import { type Held, holdingRebuildLocks } from "./rebuild-lock.ts";
import { type Begun, begin, orElseAsBefore, type RebuildSetup, replaceLive, throwFailures } from "./replace-live.ts";
import { createTables, dropTables, wholeCheckpoint } from "./table-set.ts";

/**
 * Fills new tables from the start of the log, beside the live ones, which are still written and read; then replaces the
 * live ones with one rename for each projection, and keeps the old ones until an operator confirms. The log is read
 * once for all projections. This also works if no projector is running, and if tables were dropped. If the process is
 * killed at any moment, either the old tables of a projection are live or the new ones, and the next rebuild continues
 * from there.
 *
 * If one projection fails, the others are still rebuilt before it throws the failures.
 */
export async function rebuild(projectors: readonly Projector[], setup: RebuildSetup): Promise<void> {
  await holdingRebuildLocks(setup.db, projectors, async (held) => {
    // All start to read at the same moment: the others would wait for a projection that joined later.
    const begun = await Promise.allSettled(held.map((one) => prepare(one, setup)));
    const together = { ...setup, log: shareFollowing(setup.log, asOne), alone: setup.log };
    const ready = begun.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const done = await Promise.allSettled(
      ready.map((one) => orElseAsBefore(one, setup.db, () => replaceLive(one, "__next", together))),
    );
    throwFailures([...begun, ...done]);
  });
}

async function prepare(held: Held, setup: RebuildSetup): Promise<Begun> {
  const { projector, lock } = held;
  const { db } = setup;
  const begun = await begin(held, db);
  return orElseAsBefore(begun, db, async () => {
    await writeStatus(db, projector, { ...begun.before, status: "rebuilding" });
    if (await isToBeContinued(projector, setup)) return begun;
    await dropTables(db, projector, "__next", lock.ask);
    await createTables(db, projector, "__next");
    return begun;
  });
}

const never = new AbortController().signal;

/** Whether an interrupted process left new tables of this version and of this log. */
async function isToBeContinued(projector: Projector, { db, log, signal = never }: RebuildSetup): Promise<boolean> {
  const left = await wholeCheckpoint(db, projector, "__next");
  if (left === null || left.version !== projector.version) return false;
  return await isOfSettledLog(log, left, signal);
}
