import type { JobError, JobSettings, RecipientCounts, Turn } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import type { Ledger } from "../domain/recipients/ledger.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";

/** What a worker holds while it does one attempt of a job. */
export type HeldTurn = {
  readonly job: JobRef;
  readonly turn: Turn;
  readonly settings: JobSettings;
  readonly createdAt: Instant;
  readonly worker: string;
  /** The sequence of the JobStarted that is the lease: any later decision about the job ends it. */
  readonly leaseSequence: number;
  readonly cause: Cause;
  /** What happened to the recipients before, folded up to the lease. The worker of the turn goes on folding it. */
  readonly ledger: Ledger;
  /** This attempt is the last one that the job has. */
  readonly isLastAttempt: boolean;
};

/** How an attempt ended, in a closed vocabulary. */
export type AttemptEnd =
  | { readonly kind: "completed"; readonly counts: RecipientCounts }
  /** For good: no other attempt would end better. */
  | { readonly kind: "failed"; readonly counts: RecipientCounts; readonly error: JobError }
  /** The schedule decides whether and when there is another attempt. */
  | {
      readonly kind: "try-again";
      readonly counts: RecipientCounts;
      readonly error: JobError;
      /** Somebody asked not to be tried again before so much time has passed; the schedule may say later. */
      readonly notBeforeMs?: number;
    }
  /** Somebody decided about the job meanwhile: it is another worker's, paused, or cancelled. */
  | { readonly kind: "lease-lost" }
  /** This process is stopping; another worker goes on where the log says. */
  | { readonly kind: "interrupted" };
