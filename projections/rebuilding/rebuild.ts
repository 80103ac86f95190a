import { isOfLog } from "../following/checkpoint.ts";
import { writeStatus } from "../following/projection-status.ts";
import { believedAfterMs, settledState } from "../following/settled-log.ts";
import { asOne, shareFollowing } from "../following/share-following.ts";
import type { Projector } from "../projector.ts";
import { type Held, holdingRebuildLocks } from "./rebuild-lock.ts";
import { type Begun, begin, orElseAsBefore, type RebuildSetup, replaceLive, throwFailures } from "./replace-live.ts";
import { createTables, dropTables, wholeCheckpoint } from "./table-set.ts";

/**
 * Fills new tables from the beginning of the log, beside the live ones, which go on being written and read; then puts
 * them in their place with one rename for each projection, and keeps the old ones until somebody confirms. The log is
 * read once for all of them. Works as well where no projector is running, and where tables were dropped. Killed at any
 * moment it leaves the old tables of a projection live or the new ones, and the next rebuild goes on where it was.
 *
 * Where one of them fails the others are rebuilt all the same, before it throws what went wrong.
 */
export async function rebuild(projectors: readonly Projector[], setup: RebuildSetup): Promise<void> {
  await holdingRebuildLocks(setup.db, projectors, async (held) => {
    // All begin to read at the same moment: somebody who came later would read the whole log for himself.
    const begun = await Promise.allSettled(held.map((one) => prepare(one, setup)));
    const together = { ...setup, log: shareFollowing(setup.log, asOne) };
    const ready = begun.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const done = await Promise.allSettled(
      ready.map((one) => orElseAsBefore(one, setup.db, () => replaceLive(one, "__next", together))),
    );
    throwFailures([...begun, ...done]);
  });
}

async function prepare(held: Held, setup: RebuildSetup): Promise<Begun> {
  const { projector } = held;
  const { db } = setup;
  const begun = await begin(held, db);
  return orElseAsBefore(begun, db, async () => {
    await writeStatus(db, projector, { ...begun.before, status: "rebuilding" });
    if (await isToBeContinued(projector, setup)) return begun;
    await dropTables(db, projector, "__next");
    await createTables(db, projector, "__next");
    return begun;
  });
}

const never = new AbortController().signal;

/** Whether somebody who was interrupted left new tables of this version and of this log. */
async function isToBeContinued(projector: Projector, { db, log, signal = never }: RebuildSetup): Promise<boolean> {
  const left = await wholeCheckpoint(db, projector, "__next");
  if (left === null || left.version !== projector.version) return false;
  return left.sequence === 0 || isOfLog(left, await settledState(log, left, believedAfterMs, signal));
}
