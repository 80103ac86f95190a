import type { JobEvent, OpenTurn } from "../domain/job/events.ts";
import type { Cause, JobRef, StoredEvent } from "../event-log/event-log.ts";

/** A turn that waits for a worker or is held by one, and the decision that opened it. */
export type QueuedTurn = JobRef &
  OpenTurn & {
    /** The sequence of the decision: while it is the last one about the job, nothing has happened to the turn. */
    readonly after: number;
    readonly cause: { readonly id: string } & Pick<Cause, "correlationId" | "traceparent">;
    /** The decision itself if it created the job: then a worker need not read it. Null for any other. */
    readonly created: StoredEvent<JobEvent> | null;
  };

/**
 * The first waiting turn of a tenant goes into the lane of its kind and priority, the others into the overflow behind it:
 * a tenant with one mailing never waits behind the five hundred of another.
 */
export type TurnPlace = "lane" | "overflow";

/**
 * The turns for all workers. They are hints and not the truth: a worker decides from the log what to do, so a turn that
 * is put twice or late starts nothing twice, and one that got lost is put again. Every method throws Unavailable.
 */
export interface Turns {
  /** Puts a turn, once: one that is still there, waiting or held, stays as it is. Throws LogFull if there is no room. */
  put(turn: QueuedTurn, place: TurnPlace): Promise<void>;
  /**
   * The jobs of which there is a turn, waiting or held. Costs as much as there are turns. A queue of which the server has
   * lost turns, or gives them to no worker, is dropped, so that they can be put again.
   */
  jobs(): Promise<(job: JobRef) => boolean>;
  /**
   * When the queue of turns was made, another time once it was lost; null where it was lost and is not made again yet. One
   * that the server has damaged while it was away is dropped, as above.
   */
  madeAt(): Promise<string | null>;
}
