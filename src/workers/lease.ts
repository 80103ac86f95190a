import type { EventLog, JobRef } from "../event-log/event-log.ts";
import { persistently } from "../event-log/persistently.ts";
import type { HeldTurn } from "./turn.ts";

/**
 * Whether the log still has this worker's JobStarted as the last decision about the job. A hint reports a loss at once, and
 * `confirm` asks the log.
 */
export type Lease = {
  /** The state that is known without asking. Once false, it stays false. */
  readonly isHeld: () => boolean;
  /** Asks the log and waits for the answer: nothing may be sent before it arrives. */
  confirm(): Promise<boolean>;
  /** Asks the log, unless it asked a moment ago: a process that was stopped for a minute does not notice it. */
  confirmLately(): Promise<boolean>;
  /** Whether no worker has taken a lease after this one was lost: the job may be paused, cancelled, or open again. */
  isFree(): Promise<boolean>;
  /** Calls back once, when the lease turns out to be lost. */
  onLost(lost: () => void): void;
  end(): void;
};

/**
 * How long an answer of the log, or about a recipient, is believed, by the monotonic clock: a process can be stopped between
 * any two steps, and that clock goes on.
 */
export const answersHoldMs = 1000;

/** A job of a few recipients is mostly over by then, and the worker never listens for decisions about it. */
const deafForMs = 250;
/** How long an answer of the log is believed until then. A worker that listens hears of a decision about as soon. */
const unheardHoldsMs = 25;

/**
 * `patience` ends the wait for a log that is away; calls that wait then throw Unavailable. A worker that has claimed all
 * recipients together with the lease has little left that a decision could stop: it listens a moment later.
 */
export function watchLease(
  log: EventLog,
  { job, leaseSequence, claimed, settings, ...held }: LeasedTurn,
  patience: AbortSignal,
): Lease {
  let isHeld = true;
  let hasEnded = false;
  let { confirmedAt } = held;
  let doubtedAt = Number.NEGATIVE_INFINITY;
  let tellLost: () => void = () => {};
  const askLog = <Answer>(ask: () => Promise<Answer>) =>
    persistently(patience, async () => {
      const askedAt = performance.now();
      return { askedAt, answer: await ask() };
    });
  const confirm = async (): Promise<boolean> => {
    // A slow answer describes the past: the process may have been stopped while it waited.
    while (isHeld) {
      const { askedAt, answer: last } = await askLog(() => log.lastDecision(job));
      confirmedAt = Math.max(confirmedAt, askedAt);
      if (last !== leaseSequence && isHeld) {
        isHeld = false;
        tellLost();
      }
      if (performance.now() - askedAt < answersHoldMs) break;
    }
    return isHeld;
  };
  const isFresh = (): boolean =>
    confirmedAt >= doubtedAt && performance.now() - confirmedAt < (isListening ? answersHoldMs : unheardHoldsMs);
  const doubt = (): void => {
    // An answer from before the hint is no longer valid: no mail goes out until the log has answered again.
    doubtedAt = performance.now();
    // A failure here loses nothing: the next claim asks again before anything is sent.
    if (!hasEnded) confirm().catch(() => {});
  };
  let isListening = false;
  let stopListening = (): void => {};
  const listen = (): void => {
    isListening = true;
    stopListening = log.onDecision(job, doubt);
  };
  const listenLate = (): void => {
    listen();
    doubt();
  };
  const timer = claimed.length < settings.total ? undefined : setTimeout(listenLate, deafForMs);
  if (timer === undefined) listen();
  return {
    isHeld: () => isHeld,
    confirm,
    confirmLately: async () => (isFresh() ? isHeld : await confirm()),
    isFree: async () => {
      for (;;) {
        const read = await askLog(() => log.readDecisions(job));
        const since = read.answer.filter(({ sequence }) => sequence > leaseSequence);
        // Where none is there, what was read is not what ended the lease.
        if (since.length === 0 || since.some(({ event }) => event.type === "JobStarted")) return false;
        if (performance.now() - read.askedAt < answersHoldMs) return true;
        // A long history takes longer to read than an answer holds, each time; to ask whether it has grown takes a moment.
        const { askedAt, answer: last } = await askLog(() => log.lastDecision(job));
        if (last === since.at(-1)?.sequence && performance.now() - askedAt < answersHoldMs) return true;
      }
    },
    onLost: (lost) => {
      tellLost = lost;
    },
    end: () => {
      hasEnded = true;
      clearTimeout(timer);
      stopListening();
    },
  };
}

type LeasedTurn = Pick<HeldTurn, "job" | "leaseSequence" | "confirmedAt" | "claimed" | "settings">;

/**
 * What a worker says about a job. It is `silent` if it was asked twice and did not answer within a second: it is dead,
 * frozen, or cut off from the log.
 */
export type LeaseAnswer = "running" | "over" | "silent";

/**
 * All that a worker does about a job, or its help of this name alone: one that helped may hold the lease by now, and wait
 * for the worker that asks.
 */
export type WorkOfWorker = JobRef & { readonly help?: string };

/** Lets a worker find out whether another one, the holder of a job's lease or its helper, is still working. */
export interface LeaseProbe {
  /** Answers for this worker from now on; returns a function that stops it. */
  answerFor(worker: string, isRunning: (about: WorkOfWorker) => boolean): () => void;
  ask(worker: string, about: WorkOfWorker): Promise<LeaseAnswer>;
}
