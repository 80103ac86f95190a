import type { JobType } from "../domain/job/events.ts";
import type { JobRef } from "../event-log/event-log.ts";

/** A worker has more recipients of this job left than it will serve in a moment. */
export type HelpWanted = JobRef & { readonly worker: string };

/** One worker's help with one job: from its first request to its last, under one lease. */
type OfHelp = JobRef & {
  readonly helper: string;
  /** Names the help; no other help of any worker has the same name. */
  readonly help: string;
};

export type HelpRequest =
  /**
   * Asks for some recipients, for the first time (`part` 0) or once more. A request whose answer got lost is repeated as it
   * was, and gets the same recipients.
   */
  | (OfHelp & { readonly kind: "more"; readonly part: number })
  /** Ends the help: what was served is stored in the log, and no claim is left behind. */
  | HelpDone;

export type HelpDone = OfHelp & {
  readonly kind: "done";
  /** How many answers the helper got: it knows nothing of recipients in a later one. */
  readonly parts: number;
  readonly notServed: readonly number[];
  /** False where claims had to be left behind: these recipients are in doubt. */
  readonly isClean: boolean;
};

/** The recipients that the helper serves under this lease from now on; none where there is nothing to do. */
export type HelpAnswer = { readonly leaseSequence: number; readonly recipients: readonly number[] };

export const noHelpWanted: HelpAnswer = { leaseSequence: 0, recipients: [] };

/**
 * How workers share the recipients of a job. All of it is messages that may get lost: the log alone says which recipients
 * are claimed, served, and by which worker.
 */
export interface HelpExchange {
  /** Tells all workers for this kind of job. */
  announce(type: JobType, wanted: HelpWanted): void;
  /** Calls back for each announcement; returns a function that stops it. */
  onAnnounced(type: JobType, heard: (wanted: HelpWanted) => void): () => void;
  /** Answers what others ask this worker; returns a function that stops it. */
  answerFor(worker: string, answer: (request: HelpRequest) => HelpAnswer): () => void;
  /** Null where the worker does not answer within a second. */
  request(worker: string, request: HelpRequest): Promise<HelpAnswer | null>;
}
