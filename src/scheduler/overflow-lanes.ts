import type { JobQueued, OpenTurn } from "../domain/job/events.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { laneOf } from "../event-log/subjects.ts";

/**
 * Chooses the lane of each turn. The first waiting turn of a tenant goes into the lane proper, the others into the
 * overflow lane behind it (`.crowd` in its subject), so a tenant with one mailing never waits behind the five hundred of
 * another. Only the order depends on it: a message that was missed or forgotten puts a turn into the other of the two
 * lanes, and loses nothing.
 */
export type OverflowLanes = {
  /** Returns the turn with its lane; the turn counts as waiting from here on. */
  place(job: JobRef, turn: OpenTurn): JobQueued["data"];
  /** Any process queued a turn, in a lane or in the overflow lane behind it: `lane` is the lane proper. */
  queued(job: JobRef, lane: string): void;
  /** Any decision about a job ends its wait in a lane: the job has started, has ended, or will be queued anew. */
  decided(job: JobRef): void;
  forgetAll(): void;
};

/** Without this limit, a turn that is queued once more after it was done would count for ever. */
const forgottenAfterMs = 600_000;

export function createOverflowLanes(): OverflowLanes {
  /** The waiting jobs, by tenant and lane. */
  const waiting = new Map<string, Set<string>>();
  /** The longest waiting first. */
  const laneOfJob = new Map<string, { readonly lane: string; readonly sinceMs: number }>();
  const keyOf = ({ tenant, jobId }: JobRef): string => `${tenant}.${jobId}`;

  const leave = (key: string): void => {
    const lane = laneOfJob.get(key)?.lane;
    if (lane === undefined) return;
    laneOfJob.delete(key);
    const jobs = waiting.get(lane);
    jobs?.delete(key);
    if (jobs?.size === 0) waiting.delete(lane);
  };
  const decided = (job: JobRef): void => leave(keyOf(job));
  const forgetOld = (): void => {
    for (const [key, { sinceMs }] of laneOfJob) {
      if (performance.now() - sinceMs < forgottenAfterMs) return;
      leave(key);
    }
  };
  const queued = (job: JobRef, properLane: string): void => {
    decided(job);
    const lane = `${job.tenant} ${properLane}`;
    const jobs = waiting.get(lane) ?? new Set();
    waiting.set(lane, jobs.add(keyOf(job)));
    laneOfJob.set(keyOf(job), { lane, sinceMs: performance.now() });
  };

  return {
    queued,
    decided,
    place: (job, turn) => {
      forgetOld();
      decided(job);
      const lane = laneOf({ ...turn, isCrowded: false });
      const isCrowded = waiting.has(`${job.tenant} ${lane}`);
      queued(job, lane);
      return { ...turn, isCrowded };
    },
    forgetAll: () => {
      waiting.clear();
      laneOfJob.clear();
    },
  };
}
