import type { JobRef } from "../event-log/event-log.ts";

/** Lets a worker find out whether the one that holds a job's lease is still at it. */
export interface LeaseProbe {
  /** Answers for this worker from now on; returns how to stop that. */
  answerFor(worker: string, isRunning: (job: JobRef) => boolean): () => void;
  /** False where the worker, asked twice, does not answer within a second: it is gone, frozen, or cut off from the log. */
  isRunning(worker: string, job: JobRef): Promise<boolean>;
}
