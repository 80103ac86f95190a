import type { JobQueued } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";

/** The queue is the log: what stands on the queues' subjects, handed to one worker at a time. */
export interface WorkQueue {
  /**
   * Turns that wait, up to `limit`, of the highest priority there is; none when none is known of. What is found then is
   * told by `onArrival`, and handed back where the worker does not take it at once. The more turns a worker has in hand, the longer
   * it leaves a new one to workers that have fewer; one that stays is taken all the same. Throws Unavailable.
   */
  take(limit: number, inHand?: number): Promise<readonly Delivery<JobQueued>[]>;
  /** About how many turns wait to be taken for the first time. Throws Unavailable. */
  waiting(): Promise<number>;
  /** Calls back when a turn may have come. A hint that can be lost: ask now and then as well. */
  onArrival(arrived: () => void): () => void;
}
