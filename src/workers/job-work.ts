import type { JobType } from "../domain/job/events.ts";
import type { BreakerState } from "../domain/unavailable.ts";
import type { Bookkeeper } from "./bookkeeper.ts";
import type { Lease } from "./lease.ts";
import type { Hindrance } from "./standstill.ts";
import type { AttemptEnd, HeldTurn } from "./turn.ts";

/** The surroundings of a turn in progress. */
export type Workplace = {
  /** Aborts when the process is to stop: sends in progress end, and nothing new begins. */
  readonly stopping: AbortSignal;
};

/**
 * Does one attempt of a job whose turn is held: claims before it acts, records after, and returns how the attempt ended.
 * An exception breaks the turn off: the queue hands the turn out again, and the work continues where the log ends.
 */
export type WorkOfTurn = (held: HeldTurn, lease: Lease, books: Bookkeeper, workplace: Workplace) => Promise<AttemptEnd>;

/** What a kind of job may ask of its worker and queue. */
export type WorkerView = {
  readonly busy: () => number;
  /** About how many turns of this kind wait. Throws Unavailable. */
  readonly waiting: () => Promise<number>;
  /** Makes the worker look for work at once. */
  readonly lookForWork: () => void;
};

/** Holds back the turns of one kind of job, and of no other, while taking one up would only use up an attempt. */
export type Gate = {
  /** How many turns the worker may take now, or the reason why it may take none. Throws Unavailable. */
  mayTake(): Promise<number | Hindrance>;
  start(): void;
  stop(): void;
};

/** The work of one kind of job. Each kind has slots and lanes of its own: none waits for another. */
export type JobWork = {
  readonly type: JobType;
  readonly work: WorkOfTurn;
  /** Concurrent turns in one process, where the setting for all kinds does not apply. */
  readonly concurrency?: number;
  /** How many recipients all turns of one process serve at a time, where that is limited. */
  readonly connections?: number;
  /** Without a gate, the worker takes a turn whenever a slot is free. */
  readonly gate?: (worker: WorkerView) => Gate;
  /** The state of the breaker for the server that all turns of the kind need, if there is such a server. */
  readonly breaker?: () => BreakerState;
};
