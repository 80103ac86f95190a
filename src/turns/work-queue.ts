import type { Handover } from "../event-log/delivery.ts";
import type { QueuedTurn } from "./turns.ts";

/** A turn handed to one worker; it comes back to any worker unless this one keeps it or acknowledges it. */
export type TurnDelivery = Handover & {
  readonly turn: QueuedTurn;
  /** When it was put, in milliseconds since 1970. */
  readonly putAtMs: number;
};

/** The turns of one kind of job, each handed to one worker at a time. */
export interface WorkQueue {
  /**
   * Up to `limit` waiting turns, of the highest priority there is; none where none waits. A turn that comes later is
   * announced by `onArrival`, and goes to another worker unless this one takes it at once. New turns go to workers
   * without one in hand first. Throws Unavailable.
   */
  take(limit: number, inHand?: number): Promise<readonly TurnDelivery[]>;
  /** How many turns wait to be taken for the first time. Throws Unavailable. */
  waiting(): Promise<number>;
  /** Calls back when it is time to take again; the function that it returns hands back what was not taken. */
  onArrival(arrived: () => void): () => void;
}
