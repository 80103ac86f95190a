import type { JobError, JobSettings, JobType } from "../domain/job/events.ts";
import { countRecipients } from "../domain/recipients/ledger.ts";
import type { RouteState } from "../domain/recipients/route-state.ts";
import type { BreakerState } from "../domain/unavailable.ts";
import type { JobRef } from "../event-log/event-log.ts";
import type { Bookkeeper } from "./bookkeeper.ts";
import type { Lease } from "./lease.ts";
import type { Hindrance } from "./standstill.ts";
import type { AttemptEnd, HeldTurn } from "./turn.ts";

/**
 * Does one attempt of a job whose turn is held: claims before it acts, records after, and returns how the attempt ended.
 * An exception breaks the turn off: the queue hands the turn out again, and the work continues where the log ends.
 * `stopping` aborts when the process is to stop: sends in progress end, and nothing new begins.
 */
export type WorkOfTurn = (
  held: HeldTurn,
  lease: Lease,
  books: Bookkeeper,
  stopping: AbortSignal,
) => Promise<AttemptEnd>;

/** An attempt that can begin: what it needs was read before its lease is taken. */
export type PreparedWork = {
  /** The recipients that the first attempt of a job claims together with its lease. */
  readonly claims: readonly number[];
  readonly work: WorkOfTurn;
};

/** What the job needs is away, while other jobs can be worked on: the turn comes again later, and uses up no attempt. */
export const notNow = "not-now";

/** The attempt of a job that no worker can serve. */
export const failedBecause = (error: JobError): PreparedWork => ({
  claims: [],
  work: async ({ ledger }) => ({ kind: "failed", counts: countRecipients(ledger), error }),
});

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

/** The connections that all turns of a kind have in common, in one process. */
export type SpareConnections = {
  /** How many connections no job uses. */
  free(): number;
  /** Whether a job waits for a connection. */
  areWanted(): boolean;
};

/** The work of one kind of job. Each kind has slots and lanes of its own: none waits for another. */
export type JobWork = {
  readonly type: JobType;
  /** Reads what an attempt needs. An exception breaks the turn off, and costs the job no takeover. */
  readonly prepare: (job: JobRef, settings: JobSettings) => Promise<PreparedWork | typeof notNow>;
  /** How many slots a worker has, where the setting for all kinds does not apply: see `slotsOf`. */
  readonly concurrency?: number;
  /** How many recipients all turns of one process serve at a time, where that is limited. */
  readonly connections?: number;
  /**
   * Given for a kind of job with recipients that several workers may serve at a time: idle workers then help those that
   * have much left, as long as no turn of their own wants the connections.
   */
  readonly shares?: SpareConnections;
  /** Without a gate, the worker takes a turn whenever a slot is free. */
  readonly gate?: (worker: WorkerView) => Gate;
  /** The state of the breaker for the server that all turns of the kind need, if there is such a server. */
  readonly breaker?: () => BreakerState;
  /** The mail routes that the work uses, if it sends mails. */
  readonly routes?: () => readonly RouteState[];
};
