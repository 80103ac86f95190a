import type { JobEvent } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";

/** The decisions about all jobs, each handed to one scheduler, and again until it acknowledges. */
export interface DecisionFeed {
  /** What is there, in batches that are never empty, until the signal aborts. Lost connections are taken up again. */
  batches(signal: AbortSignal): AsyncIterable<readonly Delivery<JobEvent>[]>;
}
