import type { JobQueued } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";

/** The queue is the log: what stands on the queues' subjects, handed to one worker at a time. */
export interface WorkQueue {
  /** One turn that waits, of the highest priority there is; null when none waits. Throws LogUnavailable. */
  take(): Promise<Delivery<JobQueued> | null>;
  /** Calls back when a turn may have come. A hint that can be lost: ask now and then as well. */
  onArrival(arrived: () => void): () => void;
}
