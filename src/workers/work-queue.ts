import type { JobQueued } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";

/** The queue is the log: it hands the messages on the queues' subjects to one worker at a time. */
export interface WorkQueue {
  /**
   * Up to `limit` waiting turns, of the highest priority there is; none where the queue knows of none. A turn that is found
   * later is announced by `onArrival`, and handed back unless the worker takes it at once. The more turns a worker has in
   * hand, the longer it leaves a new turn to workers that have fewer; a turn that stays is taken all the same. Throws
   * Unavailable.
   */
  take(limit: number, inHand?: number): Promise<readonly Delivery<JobQueued>[]>;
  /** About how many turns wait to be taken for the first time. Throws Unavailable. */
  waiting(): Promise<number>;
  /** Calls back when a turn may have come. A hint can get lost, so ask now and then as well. */
  onArrival(arrived: () => void): () => void;
}
