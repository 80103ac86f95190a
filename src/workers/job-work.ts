import type { JobType } from "../domain/job/events.ts";
import type { BreakerState } from "../domain/unavailable.ts";
import type { Bookkeeper } from "./bookkeeper.ts";
import type { Lease } from "./lease.ts";
import type { Hindrance } from "./standstill.ts";
import type { AttemptEnd, HeldTurn } from "./turn.ts";

/** Where a turn is worked on. */
export type Workplace = {
  /** Aborts when the process is to stop: what is on its way ends, nothing new begins. */
  readonly stopping: AbortSignal;
};

/**
 * Does one attempt of a job whose turn is held, claims before it acts and records after, and says how the attempt
 * ended. What it throws breaks the turn off: it is handed out again, and goes on where the log says.
 */
export type WorkOfTurn = (held: HeldTurn, lease: Lease, books: Bookkeeper, workplace: Workplace) => Promise<AttemptEnd>;

/** What a worker knows of itself and of its queue. */
export type WorkerView = {
  readonly busy: () => number;
  /** About how many turns of this kind wait. Throws Unavailable. */
  readonly waiting: () => Promise<number>;
  /** Has it look for work at once. */
  readonly wake: () => void;
};

/** Holds back the turns of one kind of job, and of no other, while to take one up would only use up an attempt. */
export type Gate = {
  /** How many turns may be taken now, or what forbids it. Throws Unavailable. */
  mayTake(): Promise<number | Hindrance>;
  start(): void;
  stop(): void;
};

/** What the workers of one kind of job do. Each kind has slots and lanes of its own: none waits for another. */
export type JobWork = {
  readonly type: JobType;
  readonly work: WorkOfTurn;
  /** Turns at once in one process, where that is not the setting for all kinds. */
  readonly concurrency?: number;
  /** Without one, turns are taken whenever a slot is free. */
  readonly gate?: (worker: WorkerView) => Gate;
  /** Of the breaker in front of the server that all its turns need, where there is one. */
  readonly breaker?: () => BreakerState;
};
