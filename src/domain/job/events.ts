import type { Instant, Message } from "../message.ts";

/** The name of a kind of job. A newer release may have written one that this release does not know: it reads it all the same. */
export type JobType = string;
/**
 * The kind of a request that names none. It was the first kind, so its lanes, its consumers and its worker have no kind
 * in their names, which stay as they are. No other kind is named outside its folder.
 */
export const defaultJobType: JobType = "email.send";
export type Priority = "high" | "normal" | "low";
export type OnUnknown = "resend" | "skip";
/** Which recipients a retry by hand takes up again. One that was sent is in none of them. */
export type RetryScope = "failed" | "unknown" | "unsent";

/** Why a job or an attempt ended badly. `code` is stable, `message` is for people and names no recipient. */
export type JobError = { readonly code: string; readonly message: string };

/** How the recipients of a job stand: they add up to `total`. `pending` also counts recipients whose mail is on its way. */
export type RecipientCounts = {
  readonly total: number;
  readonly sent: number;
  readonly failed: number;
  readonly pending: number;
  readonly deferred: number;
  readonly unknown: number;
  /** Not mailed, as they are on the suppression list: neither sent nor failed. */
  readonly suppressed: number;
};

/** What the log keeps of a request: no subject, no body, no address. Those are content, found by digest. */
export type JobSettings = {
  readonly type: JobType;
  readonly priority: Priority;
  readonly total: number;
  /** How many addresses were dropped because they stood in the request more than once. */
  readonly duplicates: number;
  /** SHA-256 (hex) of the stored bytes of the content. */
  readonly contentSha256: string;
  /** SHA-256 (hex) of the request, where it came with an idempotency key. */
  readonly requestSha256: string | null;
  /** Null for a job that may start at once; a time that had passed when the job was created is null too. */
  readonly scheduledAt: Instant | null;
  readonly notAfter: Instant | null;
  readonly maxAttempts: number;
  /** The first delay between two attempts; null for the schedule of the service. */
  readonly retryDelayMs: number | null;
  readonly onUnknown: OnUnknown;
  /** The job that failed and whose unsent recipients this one takes up; null for a job of its own. */
  readonly requeueOf: string | null;
  /** SHA-256 (hex) of the tenant and the group that the job is one of, which run one at a time; null for none. */
  readonly groupSha256: string | null;
};

/** A run is one life of the job from queued to ended; an attempt is one try within a run. Both count from 1. */
export type Turn = { readonly run: number; readonly attempt: number };

/**
 * Which of the decisions that opened a turn: 0 is the first one, and whoever resumes or reschedules opens it anew. What
 * was queued for an earlier one starts nothing, so that no two clocks have to agree.
 */
export type Opening = { readonly opening: number };

/** What is not there any more, of a job that had ended. */
export type Erasure = {
  /** Whose address and variables; null for all that was sent and to whom. */
  readonly recipients: readonly number[] | null;
  /** SHA-256 (hex) of the content that is left; null where nothing is. */
  readonly contentSha256: string | null;
  /** The job was kept long enough: it is in no list any more, and in the log alone. */
  readonly isRetired: boolean;
};

type Queueing = Pick<JobSettings, "type" | "priority" | "groupSha256">;

/** Events that make a job wait carry its kind, priority and group, so that whoever queues it need not read the job. */
export type JobEvent =
  | Message<"JobCreated", JobSettings>
  /** The lease: from here on `worker`, and nobody else, does this attempt. */
  | Message<"JobStarted", Turn & { readonly worker: string }>
  /** The lease given back before the end of the attempt, by a worker that is stopping, say: to start it then is no takeover. */
  | Message<"JobReleased", Turn & { readonly worker: string }>
  /** `attempt` is the next one, to begin at `nextAttemptAt`. */
  | Message<
      "JobRetryScheduled",
      Turn & Pick<JobSettings, "type" | "priority"> & { readonly nextAttemptAt: Instant; readonly error: JobError }
    >
  | Message<"JobPaused", { readonly reason: string | null }>
  /** `attempt` is the one that was interrupted, or had not begun: a pause uses up none. */
  | Message<
      "JobResumed",
      Turn & Opening & Queueing & { readonly notBefore: Instant | null; readonly reason: string | null }
    >
  /** Another time or another lane, of a job that has not started. One that is paused stays so. */
  | Message<
      "JobRescheduled",
      Turn &
        Opening &
        Queueing & {
          /** Null for now. */
          readonly scheduledAt: Instant | null;
          readonly isPaused: boolean;
          readonly reason: string | null;
        }
    >
  | Message<"JobCompleted", Turn & { readonly counts: RecipientCounts }>
  | Message<"JobFailed", Turn & { readonly error: JobError; readonly counts: RecipientCounts | null }>
  | Message<"JobCancelled", { readonly reason: string | null }>
  /** `run` is the one that begins. */
  | Message<"JobRetried", Turn & Queueing & { readonly scope: RetryScope; readonly reason: string | null }>
  /** Who was not sent in the runs up to `run`, which failed, is from here on the other job's to mail. */
  | Message<"JobRequeued", { readonly run: number; readonly asJobId: string; readonly reason: string | null }>
  /** That `run` failed was looked at and set aside. */
  | Message<"DeadLetterIgnored", { readonly run: number; readonly reason: string }>
  | Message<"JobContentErased", Erasure & { readonly reason: string | null }>;

/** The job may run now. It stands on the queue's subject, not the job's own: it is a hint that workers act on. */
export type JobQueued = Message<
  "JobQueued",
  Turn &
    Opening &
    Pick<JobSettings, "type" | "priority"> & {
      /** Others of its tenant wait in this lane already: those of tenants who have none waiting go before it. */
      readonly isCrowded: boolean;
    }
>;

/** What a decision that opens a turn says of it, and what is known only where it is queued. */
export type OpenTurn = Omit<JobQueued["data"], "isCrowded">;
