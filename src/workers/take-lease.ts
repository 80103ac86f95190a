import { handleCommand, type JobVersion } from "../commands/handle-command.ts";
import type { JobCommand } from "../domain/job/commands.ts";
import { jobDecider } from "../domain/job/decider.ts";
import type { JobEvent } from "../domain/job/events.ts";
import { Unavailable } from "../domain/unavailable.ts";
import { type Cause, type EventLog, type JobRef, type StoredEvent, VersionConflict } from "../event-log/event-log.ts";
import { persistently } from "../event-log/persistently.ts";

/** A worker that was handed a turn: what it is to decide from, and in whose name. */
export type Taker = {
  readonly log: EventLog;
  readonly job: JobRef;
  readonly cause: Cause;
  /** What the worker has looked at. */
  readonly from: JobVersion;
  /** Aborts when the process is to stop. */
  readonly stopping: AbortSignal;
};

type StartJob = Extract<JobCommand, { type: "StartJob" }>;
type EndTakeovers = Extract<JobCommand, { type: "EndTakeovers" }>;

/** With a log that is full the turn breaks off: that is told, and others have to be ended before there is room. */
const isSilence = (failure: unknown): boolean => failure instanceof Unavailable;

/**
 * The decider of another event may be a worker that was handed the same turn: it is to be asked, and what it has done to
 * be read, before the job is taken from it. So this is decided once, on what was looked at, and never again unseen.
 *
 * While the log does not answer, it is said again: a JobStarted that was stored and whose answer was lost is the lease
 * of this call, and no takeover.
 */
export async function takeLease(taker: Taker, start: StartJob) {
  const take = async () =>
    (await decideUnrivalled(taker, start)) ?? (await ownStart(taker, start)) ?? ("outrun" as const);
  return await persistently(taker.stopping, take, isSilence);
}

/** True where the job has come to its end by it; false where something else was decided meanwhile. */
export async function endTakeovers(taker: Taker, command: EndTakeovers): Promise<boolean> {
  return (await decideUnrivalled(taker, command))?.outcome === "accepted";
}

/** Null where another one was faster. */
async function decideUnrivalled({ log, job, cause, from }: Taker, command: JobCommand) {
  try {
    return await handleCommand(log, job, command, cause, { from, maxConflicts: 0 });
  } catch (failure) {
    if (failure instanceof VersionConflict) return null;
    throw failure;
  }
}

/** This worker's own JobStarted, where it is all that was decided since: a worker does one turn of a job at a time. */
async function ownStart({ log, job, from }: Taker, { worker }: StartJob) {
  const [next, ...others] = (await log.readDecisions(job)).filter(({ sequence }) => sequence > from.sequence);
  const isOwn = next?.event.type === "JobStarted" && next.event.data.worker === worker;
  if (!isOwn || others.length > 0) return null;
  const { event, sequence } = next;
  return { outcome: "accepted", events: [event], state: jobDecider.evolve(from.state, event), sequence } as const;
}

/** The worker that began the last attempt of the job, whatever became of it. */
export function lastWorker(decisions: readonly StoredEvent<JobEvent>[]): string | null {
  const started = decisions.findLast(({ event }) => event.type === "JobStarted")?.event;
  return started?.type === "JobStarted" ? started.data.worker : null;
}
