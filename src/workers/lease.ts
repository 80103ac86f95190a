import type { EventLog, JobRef } from "../event-log/event-log.ts";

/**
 * Whether the log still has this worker's JobStarted as the last decision about the job. It is told at once by a hint,
 * and looks for itself whenever it is asked to confirm.
 */
export type Lease = {
  /** What is known without asking. Once false, it stays so. */
  readonly isHeld: () => boolean;
  /** Asks the log. Throws LogUnavailable when it does not answer: then nothing may be sent. */
  confirm(): Promise<boolean>;
  /** Asks the log, unless it was asked a moment ago: a process that was stopped for a minute does not know it. */
  confirmLately(): Promise<boolean>;
  /** Calls back once, when the lease is found lost. */
  onLost(lost: () => void): void;
  end(): void;
};

/** By the monotonic clock, which goes on while a process is stopped. */
const freshForMs = 1000;

export function watchLease(log: EventLog, job: JobRef, leaseSequence: number): Lease {
  let isHeld = true;
  let hasEnded = false;
  let confirmedAt = performance.now();
  let tellLost: () => void = () => {};
  const confirm = async (): Promise<boolean> => {
    const askedAt = performance.now();
    if (isHeld && (await log.lastDecision(job)) !== leaseSequence) {
      isHeld = false;
      tellLost();
    }
    confirmedAt = askedAt;
    return isHeld;
  };
  const stopListening = log.onDecision(job, () => {
    // Nothing is lost if this one fails: the next claim asks again before anything is sent.
    if (!hasEnded) confirm().catch(() => {});
  });
  return {
    isHeld: () => isHeld,
    confirm,
    confirmLately: async () => (performance.now() - confirmedAt < freshForMs ? isHeld : await confirm()),
    onLost: (lost) => {
      tellLost = lost;
    },
    end: () => {
      hasEnded = true;
      stopListening();
    },
  };
}
