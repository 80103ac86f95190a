import type { Decision } from "../decider.ts";
import type { Instant } from "../message.ts";
import type { JobCommand } from "./commands.ts";
import type { JobEvent, JobSettings, Opening, Turn } from "./events.ts";

/** Everything that was erased of a job so far. */
export type Erased = {
  readonly isWhole: boolean;
  /** The recipients whose addresses were erased one by one. */
  readonly recipients: readonly number[];
  readonly isRetired: boolean;
};

type Waiting = "pending" | "scheduled" | "retrying";

/** `attempt` is the current one, or the next. */
export type Known = Turn &
  Opening & {
    readonly settings: JobSettings;
    readonly hasStarted: boolean;
    readonly erased: Erased;
    /** How many attempts of the run ended well but for deferred recipients, which have a patience of their own. */
    readonly deferrals: number;
    /** How often the attempt was taken over: see mostTakeovers. */
    readonly takeovers: number;
  };

export type JobState =
  /**
   * `isAbandoned`: content was stored for a job that was never created; the content is erased, and the id is not used
   * again.
   */
  | { readonly status: "absent"; readonly isAbandoned: boolean }
  | (Known & { readonly status: Waiting | "paused" | "cancelled" })
  /** See unreachedIn. */
  | (Known & { readonly status: "completed"; readonly unreached: number })
  /** After a release no worker holds the job, and it is delivered again. */
  | (Known & { readonly status: "processing"; readonly worker: string; readonly isReleased: boolean })
  /** The decision about the dead letter of the run. */
  | (Known & { readonly status: "failed"; readonly requeuedAs: string | null; readonly isIgnored: boolean });

export type Existing = Exclude<JobState, { status: "absent" }>;
export type CommandOf<Type extends JobCommand["type"]> = Extract<JobCommand, { type: Type }>;
export type JobDecision = Decision<JobEvent, JobRejection>;

export type JobRejection =
  | { readonly code: "job-not-found" | "idempotency-key-reused" | "dead-letter-not-found" }
  | {
      readonly code:
        | "job-has-ended"
        | "job-has-not-ended"
        | "job-has-started"
        | "content-erased"
        | "job-not-failed"
        | "job-requeued"
        | "job-not-paused"
        | "turn-not-open"
        | "too-many-takeovers"
        | "lease-lost";
      readonly currentStatus: Existing["status"];
    }
  | { readonly code: "scheduled-too-late"; readonly scheduledAt: Instant; readonly notAfter: Instant }
  | { readonly code: "dead-letter-closed"; readonly currentStatus: "requeued" | "retried" };
