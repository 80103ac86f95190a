import { setTimeout as pause } from "node:timers/promises";
import type { Progress } from "../following/catch-up.ts";
import type { ProjectorSetup } from "../following/run-projector.ts";
import { rebuild } from "./rebuild.ts";
import { RebuildRefused } from "./rebuild-lock.ts";
import { liveCheckpoint } from "./table-set.ts";

const askAgainMs = 1_000;
const sayAgainMs = 10_000;

/**
 * Rebuilds the rows of a projection where they are of an older release. Processes of that release, where some still run,
 * keep the old rows up to date and answer from them meanwhile. False where there is nothing to do; where another process
 * is at it, true after a while.
 */
export async function renewOlderRows(setup: ProjectorSetup, signal: AbortSignal): Promise<boolean> {
  const { projector, db, log, sources, announcements, logger } = setup;
  const live = await liveCheckpoint(db, projector);
  if (live === null || live.version >= projector.version) return false;
  const about = { projection: projector.name, from: live.version, to: projector.version };
  const onProgress = sayNowAndThen(({ sequence, lastSequence, eventsPerSecond, secondsLeft }) => {
    const progress = { sequence, lastSequence, eventsPerSecond, secondsLeft: Math.ceil(secondsLeft) };
    logger.info({ ...about, ...progress }, "The rows of an older release are being rebuilt.");
  });
  const onRebuilt = (_: string, isKept: boolean): void => {
    const remedy = isKept ? ' The old ones are kept until "waybill rebuild --confirm".' : "";
    logger.info(about, `The rows of an older release were rebuilt.${remedy}`);
  };
  try {
    await rebuild([projector], { db, log, sources, announcements, onProgress, onRebuilt, signal });
  } catch (failure) {
    if (!(failure instanceof RebuildRefused)) throw failure;
    await pause(askAgainMs, undefined, { signal }).catch(() => {});
  }
  return true;
}

/** The first progress, and then one every ten seconds. */
export function sayNowAndThen(say: (progress: Progress) => void): (progress: Progress) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (performance.now() - saidAt < sayAgainMs) return;
    saidAt = performance.now();
    say(progress);
  };
}
