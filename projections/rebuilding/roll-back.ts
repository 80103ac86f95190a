import { isOfSettledLog } from "../../src/event-log/following/settled-log.ts";
import type { Projector } from "../projector.ts";
import { holdingRebuildLocks } from "./rebuild-lock.ts";
import { begin, orElseAsBefore, type RebuildSetup, replaceLive, throwFailures } from "./replace-live.ts";
import { wholeCheckpoint } from "./table-set.ts";

/** No tables are kept, or none that this release could continue with: nothing was changed. */
export class NothingToPutBack extends Error {
  override readonly name = "NothingToPutBack";
}

/**
 * Swaps the kept tables with the live ones, which then become the kept ones. The kept tables are brought up to the end
 * of the log first, so that no reader sees less than before. Throws NothingToPutBack before it has touched any.
 */
export async function rollBackRebuilds(projectors: readonly Projector[], setup: RebuildSetup): Promise<void> {
  const { db } = setup;
  await holdingRebuildLocks(db, projectors, async (held) => {
    for (const { projector, lock } of held) await checkKept(projector, setup, lock.over);
    const done = await Promise.allSettled(
      held.map(async (one) => {
        const begun = await begin(one, db);
        await orElseAsBefore(begun, db, () => replaceLive(begun, "__previous", setup));
      }),
    );
    throwFailures(done);
  });
}

async function checkKept(projector: Projector, { db, log }: RebuildSetup, over: AbortSignal): Promise<void> {
  const { name, version } = projector;
  const kept = await wholeCheckpoint(db, projector, "__previous");
  if (kept === null) throw new NothingToPutBack(`There are no kept tables of ${name} to roll back to.`);
  if (kept.version !== version) {
    throw new NothingToPutBack(
      `The kept tables of ${name} are of version ${kept.version}; this release needs version ${version}: only the release that made them can use them.`,
    );
  }
  if (!(await isOfSettledLog(log, kept, over))) {
    throw new NothingToPutBack(
      `The kept tables of ${name} were projected from another log, or from events that this log no longer has.`,
    );
  }
}
