import { setTimeout as pause } from "node:timers/promises";
import { type EventLog, type LogEvent, type LogState, maxEventsOfEntry } from "../../src/event-log/event-log.ts";
import { isBehind } from "../../src/event-log/following/behind.ts";
import { believedAfterMs, settledState } from "../../src/event-log/following/settled-log.ts";
import { LogLostItsEnd } from "../../src/event-log/log-failures.ts";
import { type Checkpoint, readCheckpoint } from "./checkpoint.ts";
import { type ProjectionPlace, projectBatch } from "./project-batch.ts";

/** A transaction commits a batch of this size in well under a second. */
const maxEvents = 2_000;
/**
 * The time from the start of one transaction to the start of the next, unless more events wait than one could take:
 * between these two, the longer the larger the batch was. So an event of an idle service is seen at once, or within the
 * shorter time, and a steady stream of some thousands a second makes five transactions a second.
 */
const paceMs = { afterFew: 40, afterMany: 200 };
const manyEvents = 200;
/**
 * On a busy machine or database a transaction takes longer: then fewer and larger transactions leave room for other
 * work.
 */
const restByBusy = 3;
const longestRestMs = 150;
/** Shorter than the pace: what is committed next has been read by then. */
const readRestMs = 30;
const checkLogEveryMs = 5_000;

/**
 * This is not the log that the rows were projected from, or it has lost its end: the rows cannot be trusted any more.
 */
export class WrongLog extends Error {
  override readonly name = "WrongLog";
}

export type Following = {
  readonly place: ProjectionPlace;
  readonly log: EventLog;
  /** How long a log that ends before the checkpoint is doubted. */
  readonly believedMs?: number;
  /** Called after each commit, and at once if there is nothing to project: the projection is healthy up to here. */
  readonly reached: (checkpoint: Checkpoint) => Promise<void>;
};

/**
 * Projects the log from the checkpoint on, until the signal aborts; the current batch is finished first. Throws any
 * failure that stops it, and WrongLog, UndecodableEvent or UnprojectableEvent if waiting will not help.
 */
export async function followLog(following: Following, signal: AbortSignal): Promise<void> {
  const { place, log, reached } = following;
  let position = await startingPoint(following, signal);
  const broken = new AbortController();
  const over = AbortSignal.any([signal, broken.signal]);
  const watch = watchLog(following, () => position, over).catch((failure) => broken.abort(failure));
  try {
    const from = { afterSequence: position.sequence, maxEvents, signal: over, restMs: () => readRestMs };
    for await (const batch of log.follow(from)) {
      const begunAt = performance.now();
      position = await projectBatch(place, position, batch);
      await reached(position);
      const restMs = restAfter(batch.length, performance.now() - begunAt);
      if (!moreWaits(batch) && restMs > 0) await pause(restMs, undefined, { signal: over }).catch(() => {});
    }
  } catch (failure) {
    if (!(failure instanceof LogLostItsEnd)) throw failure;
    throw new WrongLog(`${failure.message} ${remedyFor(place.projector.name)}`);
  } finally {
    if (!broken.signal.aborted) broken.abort(null);
    await watch;
  }
  if (broken.signal.reason instanceof WrongLog) throw broken.signal.reason;
}

/**
 * Whether more events wait: the batch ends before the entry that would have made it too large, or long before the present.
 * Where the clocks of two machines differ, the projection hardly rests, or waits as in a steady stream.
 */
const moreWaits = (batch: readonly LogEvent[]): boolean =>
  batch.length > maxEvents - maxEventsOfEntry || isBehind(batch);

function restAfter(events: number, busyMs: number): number {
  const share = Math.min(1, events / manyEvents);
  const untilNextMs = paceMs.afterFew + share * (paceMs.afterMany - paceMs.afterFew);
  return Math.max(untilNextMs - busyMs, Math.min(longestRestMs, restByBusy * busyMs));
}

async function startingPoint(
  { place: { db, projector, suffix }, log, reached, believedMs = believedAfterMs }: Following,
  signal: AbortSignal,
): Promise<Checkpoint> {
  const { name, version } = projector;
  const checkpoint = await readCheckpoint(db, name, suffix);
  if (checkpoint === null) throw new Error(`The tables of ${name} are incomplete.`);
  if (checkpoint.version !== version) throw new Error(otherVersion(name, checkpoint.version, version));
  const state = await settledState(log, checkpoint, believedMs, signal);
  if (!signal.aborted) checkLog(name, checkpoint, state);
  const position = { ...checkpoint, logCreatedAt: state.createdAt };
  if (state.lastSequence === position.sequence) await reached(position);
  return position;
}

const otherVersion = (name: string, theirs: number, ours: number): string =>
  theirs > ours
    ? `The tables of ${name} were made by a newer release (version ${theirs}; this release has version ${ours}), which alone updates them.`
    : `The tables of ${name} have version ${theirs}; this release needs version ${ours}: run "waybill rebuild ${name}".`;

/**
 * Also detects, while it follows, a log that was created again or restored to an earlier state: such a log might never
 * grow again.
 */
async function watchLog(
  { place, log, believedMs = believedAfterMs }: Following,
  position: () => Checkpoint,
  over: AbortSignal,
): Promise<void> {
  while (!over.aborted) {
    await pause(checkLogEveryMs, undefined, { signal: over }).catch(() => {});
    // Read before the log is asked: what is committed meanwhile may be newer than its answer.
    const checkpoint = position();
    const state = over.aborted ? null : await settledState(log, checkpoint, believedMs, over).catch(() => null);
    if (state !== null && !over.aborted) checkLog(place.projector.name, checkpoint, state);
  }
}

const remedyFor = (name: string): string => `Make sure that it is the right log, then run "waybill rebuild ${name}"`;

function checkLog(name: string, { sequence, logCreatedAt }: Checkpoint, state: LogState): void {
  if (sequence === 0) return;
  const remedy = remedyFor(name);
  if (logCreatedAt !== null && logCreatedAt !== state.createdAt) {
    throw new WrongLog(
      `${name} was projected from a log created at ${logCreatedAt}; this one was created at ${state.createdAt}. ${remedy}`,
    );
  }
  if (state.lastSequence < sequence) {
    throw new WrongLog(`${name} has come to event ${sequence}; the log ends with ${state.lastSequence}. ${remedy}`);
  }
}
