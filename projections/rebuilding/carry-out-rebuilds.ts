import { takeLock } from "../../src/database/database-lock.ts";
import { describeFailure, type LineLogger } from "../../src/process/logger.ts";
import { isAlarm, sayNowAndThen } from "../following/run-projector.ts";
import type { Projector } from "../projector.ts";
import { rebuild } from "./rebuild.ts";
import { RebuildRefused } from "./rebuild-lock.ts";
import { giveUp, type RebuildRequest, readRebuildRequests, strikeOff } from "./rebuild-requests.ts";
import type { RebuildSetup } from "./replace-live.ts";
import { liveCheckpoint } from "./table-set.ts";

export type AskedRebuilds = Pick<RebuildSetup, "db" | "log" | "sources" | "announcements"> & {
  readonly projectors: readonly Projector[];
  readonly logger: LineLogger;
  /** Called for every rebuild that could not be done now; the next call tries it again. */
  readonly report: (failure: unknown) => void;
};

/**
 * Carries out the requested rebuilds, one after the other, and deletes their requests. Without a request it costs one
 * small query. Any number of processes may call it at any time: one of them rebuilds, and if it is killed another
 * continues with the tables that it left. If it is killed between the last row and the deletion of the request, the
 * rebuild is repeated once.
 *
 * If another process is already rebuilding the same projection, it is rebuilt again after that, because the other
 * rebuild may have begun before the reason for this request. Throws if the requests cannot be read.
 */
export async function carryOutRebuilds(asked: AskedRebuilds, signal: AbortSignal): Promise<void> {
  const { db } = asked;
  if ((await openRequests(asked)).length === 0) return;
  const lock = await takeLock(db, { name: "asked-rebuilds" }, 0, signal);
  if (lock === null) return;
  try {
    const over = AbortSignal.any([signal, lock.over]);
    // Reads again: the previous holder of the lock may just have finished.
    for (const request of await openRequests(asked)) {
      if (over.aborted) return;
      await carryOut(asked, request, over).catch((failure: unknown) => {
        if (!over.aborted && !(failure instanceof RebuildRefused)) asked.report(failure);
      });
    }
  } finally {
    lock.release();
  }
}

const openRequests = async ({ db }: AskedRebuilds): Promise<readonly RebuildRequest[]> =>
  (await readRebuildRequests(db)).filter(({ error }) => error === null);

async function carryOut(asked: AskedRebuilds, request: RebuildRequest, signal: AbortSignal): Promise<void> {
  const { db, log, sources, announcements, logger } = asked;
  const projector = asked.projectors.find(({ name }) => name === request.projection);
  // Tables and requests of a newer release are left to its processes.
  const live = projector === undefined ? null : await liveCheckpoint(db, projector);
  if (projector === undefined || (live !== null && live.version > projector.version)) return;
  const about = { projection: projector.name, actor: request.requestedBy, requestedAt: request.requestedAt };
  const onProgress = sayNowAndThen(({ sequence, lastSequence, eventsPerSecond, secondsLeft }) => {
    const progress = { sequence, lastSequence, eventsPerSecond, secondsLeft: Math.ceil(secondsLeft) };
    logger.info({ ...about, ...progress }, "carrying out a requested rebuild");
  });
  const onKeys = (): void => logger.info(about, "adding keys to the rebuilt tables");
  const onRebuilt = (_: string, isKept: boolean): void => {
    logger.info({ ...about, isKept }, "requested rebuild done");
  };
  try {
    await rebuild([projector], { db, log, sources, announcements, onProgress, onKeys, onRebuilt, signal });
  } catch (failure) {
    if (!isAlarm(failure)) throw failure;
    const error = describeFailure(failure);
    logger.error({ ...about, error }, "requested rebuild failed; giving up");
    return giveUp(db, request, error);
  }
  await strikeOff(db, request);
}
