import type { JobType } from "../domain/job/events.ts";
import type { BreakerState } from "../domain/unavailable.ts";

/** How a worker stands at this moment. */
export type WorkerState = {
  /** As events name it. */
  readonly name: string;
  readonly type: JobType;
  /** Jobs that it is doing, and how many it would do at once. */
  readonly busy: number;
  readonly slots: number;
  /** In front of the server that all its turns need; null where there is none. */
  readonly breaker: BreakerState | null;
};

/** Finds the workers that are there now, whichever process they are in: nothing is written down of them. */
export interface Membership {
  /** Answers from now on; returns how to stop that. */
  answer(state: () => WorkerState): () => void;
  /** All that answer within a moment, by name. One that is frozen or cut off is not among them. */
  call(): Promise<readonly WorkerState[]>;
}
