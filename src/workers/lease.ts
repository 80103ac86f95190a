import type { EventLog, JobRef } from "../event-log/event-log.ts";
import { persistently } from "../event-log/persistently.ts";

/**
 * Whether the log still has this worker's JobStarted as the last decision about the job. It is told at once by a hint,
 * and looks for itself whenever it is asked to confirm.
 */
export type Lease = {
  /** What is known without asking. Once false, it stays so. */
  readonly isHeld: () => boolean;
  /** Asks the log, and waits for its answer: before it comes, nothing may be sent. */
  confirm(): Promise<boolean>;
  /** Asks the log, unless it was asked a moment ago: a process that was stopped for a minute does not know it. */
  confirmLately(): Promise<boolean>;
  /** Whether a lost lease was lost to a pause and to nothing after it: no other worker can have held the job since. */
  wasOnlyPaused(): Promise<boolean>;
  /** Calls back once, when the lease is found lost. */
  onLost(lost: () => void): void;
  end(): void;
};

/** By the monotonic clock, which goes on while a process is stopped. */
const freshForMs = 1000;

/** `patience` ends the waiting for a log that is away; what was asked then throws Unavailable. */
export function watchLease(log: EventLog, job: JobRef, leaseSequence: number, patience: AbortSignal): Lease {
  let isHeld = true;
  let hasEnded = false;
  // Between the answer to JobStarted and this watch the process may have been stopped: the first claim asks in any case.
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let doubtedAt = Number.NEGATIVE_INFINITY;
  let tellLost: () => void = () => {};
  const confirm = async (): Promise<boolean> => {
    // An answer that took its time says what was: the process may have been stopped while it waited for it.
    while (isHeld) {
      const { askedAt, last } = await persistently(patience, async () => {
        const now = performance.now();
        return { askedAt: now, last: await log.lastDecision(job) };
      });
      confirmedAt = Math.max(confirmedAt, askedAt);
      if (last !== leaseSequence && isHeld) {
        isHeld = false;
        tellLost();
      }
      if (performance.now() - askedAt < freshForMs) break;
    }
    return isHeld;
  };
  const isFresh = (): boolean => confirmedAt >= doubtedAt && performance.now() - confirmedAt < freshForMs;
  const stopListening = log.onDecision(job, () => {
    // What was asked before the hint says nothing any more: until the log has answered anew, no mail goes out.
    doubtedAt = performance.now();
    // Nothing is lost if this one fails: the next claim asks again before anything is sent.
    if (!hasEnded) confirm().catch(() => {});
  });
  return {
    isHeld: () => isHeld,
    confirm,
    confirmLately: async () => (isFresh() ? isHeld : await confirm()),
    wasOnlyPaused: async () => {
      const since = (await persistently(patience, () => log.readDecisions(job))).filter(
        ({ sequence }) => sequence > leaseSequence,
      );
      return since.length > 0 && since.every(({ event }) => event.type === "JobPaused");
    },
    onLost: (lost) => {
      tellLost = lost;
    },
    end: () => {
      hasEnded = true;
      stopListening();
    },
  };
}

/** Lets a worker find out whether the one that holds a job's lease is still at it. */
export interface LeaseProbe {
  /** Answers for this worker from now on; returns how to stop that. */
  answerFor(worker: string, isRunning: (job: JobRef) => boolean): () => void;
  /** False where the worker, asked twice, does not answer within a second: it is gone, frozen, or cut off from the log. */
  isRunning(worker: string, job: JobRef): Promise<boolean>;
}
