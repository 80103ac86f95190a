import type { QueuedTurn } from "./turns.ts";

/**
 * What a worker may say about a turn that it was handed. The turn comes back, to any worker, if it is neither acknowledged
 * nor kept for a while, and after a crash of the server perhaps although it was acknowledged: a worker decides what to do
 * from the log. None of the calls waits, and none of them fails.
 */
export type Handover = {
  /** The number of deliveries, this one included, as far as the server knows: it may forget. */
  readonly times: number;
  acknowledge(): void;
  /** Reports that work goes on, so that no other worker gets the turn. */
  keep(): void;
  /** Requests redelivery after a moment. Not for long waits: those are events and a schedule. */
  giveBack(delayMs: number): void;
};

/** A turn handed to one worker. */
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
