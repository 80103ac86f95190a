import type { JobQueued, OpenTurn } from "../domain/job/events.ts";
import type { JobRef } from "../event-log/event-log.ts";
import { laneOf } from "../event-log/subjects.ts";

/**
 * Who waits in which lane, as far as it was heard: the first turn of a tenant that waits goes into the lane proper, the
 * others into the crowd behind it. So a tenant with one mailing never waits behind the five hundred of another. It is
 * a matter of order only: what was not heard, or was forgotten, puts a turn into the other lane and loses nothing.
 */
export type Crowd = {
  /** The turn with its lane; it counts as waiting from here on. */
  place(job: JobRef, turn: OpenTurn): JobQueued["data"];
  /** Somebody has queued a turn, in a lane or in the crowd behind it: `lane` is the lane proper. */
  queued(job: JobRef, lane: string): void;
  /** Whatever was decided about a job, it waits in no lane any more: it has started, ended, or is to be queued anew. */
  decided(job: JobRef): void;
  forgetAll(): void;
};

/** A turn that is queued once more after it was done would else be counted for ever. */
const forgottenAfterMs = 600_000;

export function createCrowd(): Crowd {
  /** By tenant and lane, the jobs that wait. */
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
