import type { JobType } from "../domain/job/events.ts";
import type { RouteState } from "../domain/recipients/route-state.ts";
import type { BreakerState } from "../domain/unavailable.ts";

/** The state of a worker at this moment. */
export type WorkerState = {
  /** The worker's name in events. */
  readonly name: string;
  readonly type: JobType;
  /** Slots that jobs in progress take, and how many there are: a large job takes several. */
  readonly busy: number;
  readonly slots: number;
  /** Jobs of other workers that it helps with; they take no slot. */
  readonly helping: number;
  /** The breaker for the server that all its turns need; null where there is none. */
  readonly breaker: BreakerState | null;
  /** Of a worker that sends mails, its mail routes. */
  readonly routes?: readonly RouteState[];
};

/** Finds the live workers of all processes; nothing stores a list of them. */
export interface Membership {
  /** Answers from now on; returns a function that stops it. */
  answer(state: () => WorkerState): () => void;
  /** All workers that answer within a moment, by name. A frozen worker, or one that is cut off, is not among them. */
  call(): Promise<readonly WorkerState[]>;
}
