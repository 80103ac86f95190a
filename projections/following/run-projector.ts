import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type { EventLog } from "../../src/event-log/event-log.ts";
import type { Announcements } from "../../src/event-log/following/announcements.ts";
import { isPassed, UndecodableEvent } from "../../src/event-log/log-failures.ts";
import { createOutageReport, describeFailure, type LineLogger } from "../../src/process/logger.ts";
import type { Projector, Sources } from "../projector.ts";
import { keepTidy } from "../rebuilding/keep-tidy.ts";
import { rebuild } from "../rebuilding/rebuild.ts";
import { RebuildRefused } from "../rebuilding/rebuild-lock.ts";
import { ensureTables, liveCheckpoint } from "../rebuilding/table-set.ts";
import type { Progress } from "./catch-up.ts";
import { followLog, WrongLog } from "./follow-log.ts";
import { UnprojectableEvent } from "./project-batch.ts";
import { becomeActive } from "./projection-lock.ts";
import { becomeLive, readStatus, writeStatus } from "./projection-status.ts";
import { findSchemaGap, SchemaIncomplete } from "./schema-gap.ts";

const firstDelayMs = 100;
const longestDelayMs = 5_000;
const askAgainMs = 1_000;
const sayAgainMs = 10_000;
const sayLiveAgainMs = 10_000;

export type ProjectorSetup = {
  readonly projector: Projector;
  readonly db: Knex;
  readonly log: EventLog;
  readonly sources: Sources;
  readonly announcements: Announcements;
  readonly logger: LineLogger;
  /** If it may not, it waits until an operator has created the tables, or rebuilt them for this release. */
  readonly mayChangeTables: boolean;
  /** How long a log that ends before the checkpoint is doubted; see settled-log.ts. */
  readonly believedMs?: number;
  /** How often the projector looks for tables that nobody needs. */
  readonly tidyEveryMs?: number;
};

export type ProjectorRunner = {
  start(): void;
  /** Resolves when the current batch is committed or abandoned, and the lock is free for others. */
  stop(): Promise<void>;
};

/**
 * Keeps one read model up to date as long as it runs. Any number of instances may run: one is active, and the others
 * stand by and take over within a second or two. Rows of an older release are rebuilt first. It waits for a database or
 * a log that is away. A failure that waiting does not cure stops this projection and no other, with an error in the log
 * and in the table `projections`. A stopped projection continues without a restart once the cause is gone: after an
 * upgrade, after a rebuild, or once an operator has decided to pass by the message that it stopped before.
 *
 * Both methods may be called again at any time, without effect if there is nothing to do.
 */
export function createProjectorRunner(setup: ProjectorSetup): ProjectorRunner {
  let running: { readonly ending: AbortController; readonly ended: Promise<void> } | null = null;
  return {
    start: () => {
      if (running !== null) return;
      const ending = new AbortController();
      running = { ending, ended: runProjector(setup, ending.signal) };
    },
    stop: async () => {
      const { ending, ended } = running ?? {};
      ending?.abort();
      await ended;
      running = null;
    },
  };
}

/** Runs until the signal aborts; it never rejects. */
async function runProjector(setup: ProjectorSetup, signal: AbortSignal): Promise<void> {
  const outage = createOutageReport(setup.logger, { projection: setup.projector.name }, "projection");
  let delayMs = firstDelayMs;
  const allIsWell = (): void => {
    outage.recovered();
    delayMs = firstDelayMs;
  };
  while (!signal.aborted) {
    try {
      if (!setup.mayChangeTables) await expectTables(setup);
      else if (await renewOlderRows(setup, signal)) continue;
      await takePart(setup, allIsWell, signal);
    } catch (failure) {
      if (signal.aborted) return;
      if (isAlarm(failure)) {
        await stopWith(setup, failure, signal);
      } else {
        outage.failed(failure);
        await pause(delayMs, undefined, { signal }).catch(() => {});
        delayMs = Math.min(delayMs * 2, longestDelayMs);
      }
    }
  }
}

/**
 * Rebuilds the rows of a projection if they are of an older release. Processes of that release, if some still run, keep
 * the old rows up to date and answer from them meanwhile. Returns false if there is nothing to do, and true after a
 * while if another process is rebuilding.
 */
async function renewOlderRows(setup: ProjectorSetup, signal: AbortSignal): Promise<boolean> {
  const { projector, db, log, sources, announcements, logger } = setup;
  const live = await liveCheckpoint(db, projector);
  if (live === null || live.version >= projector.version) return false;
  const about = { projection: projector.name, from: live.version, to: projector.version };
  const onProgress = sayNowAndThen(({ sequence, lastSequence, eventsPerSecond, secondsLeft }) => {
    const progress = { sequence, lastSequence, eventsPerSecond, secondsLeft: Math.ceil(secondsLeft) };
    logger.info({ ...about, ...progress }, "rebuilding the rows of an older release");
  });
  const onKeys = (): void => logger.info(about, "adding keys to the rebuilt tables");
  const onRebuilt = (_: string, isKept: boolean): void => {
    const remedy = isKept ? { remedy: '"waybill rebuild --confirm" drops the old rows' } : {};
    logger.info({ ...about, isKept, ...remedy }, "rows of an older release rebuilt");
  };
  try {
    await rebuild([projector], { db, log, sources, announcements, onProgress, onKeys, onRebuilt, signal });
  } catch (failure) {
    if (!(failure instanceof RebuildRefused)) throw failure;
    await pause(askAgainMs, undefined, { signal }).catch(() => {});
  }
  return true;
}

/** Passes on the first progress report, and then one every ten seconds. */
export function sayNowAndThen(say: (progress: Progress) => void): (progress: Progress) => void {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (progress) => {
    if (performance.now() - saidAt < sayAgainMs) return;
    saidAt = performance.now();
    say(progress);
  };
}

/** Throws SchemaIncomplete, which the caller waits out like a database that is away. */
async function expectTables({ db, projector }: ProjectorSetup): Promise<void> {
  const gap = await findSchemaGap(db, [projector]);
  if (gap !== null) throw new SchemaIncomplete(gap);
}

/** Stands by, then is the active instance for as long as it holds the lock. */
async function takePart(setup: ProjectorSetup, allIsWell: () => void, signal: AbortSignal): Promise<void> {
  const { projector, db, log, sources, announcements, believedMs } = setup;
  const lock = await becomeActive(db, projector.name, signal);
  if (lock === null) return;
  let saidLiveAt = Number.NEGATIVE_INFINITY;
  const ending = new AbortController();
  const over = AbortSignal.any([signal, lock.over, ending.signal]);
  let tidying = Promise.resolve();
  try {
    if (setup.mayChangeTables) await ensureTables(db, projector);
    tidying = keepTidy(setup, over);
    const place = { db, projector, suffix: "", sources } as const;
    const reached = async ({ sequence }: { readonly sequence: number }): Promise<void> => {
      announcements.announce(projector.name, sequence);
      allIsWell();
      // Repeated now and then: a rebuild that is killed later leaves its status behind.
      if (Date.now() - saidLiveAt < sayLiveAgainMs) return;
      await becomeLive(db, projector);
      saidLiveAt = Date.now();
    };
    await followLog({ place, log, reached, ...(believedMs !== undefined && { believedMs }) }, over);
  } finally {
    ending.abort();
    lock.release();
    await tidying;
  }
}

type Alarm = UndecodableEvent | UnprojectableEvent | WrongLog;

/** Failures that waiting does not cure. */
export const isAlarm = (failure: unknown): failure is Alarm =>
  failure instanceof UndecodableEvent || failure instanceof UnprojectableEvent || failure instanceof WrongLog;

/** Whether an operator has decided to go on without the message; unknown while the log is away. */
const isPassedBy = async ({ log }: ProjectorSetup, alarm: Alarm): Promise<boolean> =>
  alarm instanceof UndecodableEvent && isPassed(alarm, await log.readPasses().catch(() => []));

/** Reports the stop in the log and in the table, and waits until the cause is gone. */
async function stopWith(setup: ProjectorSetup, alarm: Alarm, signal: AbortSignal): Promise<void> {
  const { projector, db, logger } = setup;
  const sequence = alarm instanceof WrongLog ? null : alarm.sequence;
  const stopped = { status: "stopped", error: alarm.message, stoppedAtSequence: sequence } as const;
  logger.error({ projection: projector.name, sequence, error: alarm.message }, "projection stopped");
  let isRecorded = false;
  while (!signal.aborted) {
    if (await isPassedBy(setup, alarm)) return;
    try {
      if (!isRecorded) await writeStatus(db, projector, stopped);
      else if ((await readStatus(db, projector.name))?.status === "live") return;
      isRecorded = true;
    } catch (failure) {
      logger.warn(
        { projection: projector.name, error: describeFailure(failure) },
        "the stop of the projection could not be recorded; retrying",
      );
    }
    await pause(askAgainMs, undefined, { signal }).catch(() => {});
  }
}
