import type { Instant, Message } from "../message.ts";

/**
 * The name of a kind of job. A newer release may have written one that this release does not know: it can still read
 * the event.
 */
export type JobType = string;
/**
 * The kind of a request that names none, and of the worker whose name contains no kind. No other kind is named outside
 * its folder.
 */
export const defaultJobType: JobType = "email.send";
/** In the order in which workers serve them. */
export const priorities = ["high", "normal", "low"] as const;
export type Priority = (typeof priorities)[number];
export type OnUnknown = "resend" | "skip";
/** Which recipients a retry by hand includes. A sent recipient is in none of the scopes. */
export type RetryScope = "failed" | "unknown" | "unsent";

/** Why a job or an attempt ended badly. `code` is stable, `message` is for people and names no recipient. */
export type JobError = { readonly code: string; readonly message: string };

/**
 * The state of a job's recipients: the counts add up to `total`. `pending` also counts recipients whose mail is in
 * flight.
 */
export type RecipientCounts = {
  readonly total: number;
  readonly sent: number;
  readonly failed: number;
  readonly pending: number;
  readonly deferred: number;
  readonly unknown: number;
  /** Not mailed, because they are on the suppression list: neither sent nor failed. */
  readonly suppressed: number;
};

/** The stored letter that a request named instead of words of its own. The words themselves are content. */
export type TemplateUse = {
  readonly name: string;
  readonly version: number;
  /** SHA-256 (hex) of the letter as it is stored. */
  readonly sha256: string;
};

/** What the log keeps of a request: no subject, no body, no address. Those are content, which the digest identifies. */
export type JobSettings = {
  readonly type: JobType;
  readonly priority: Priority;
  readonly total: number;
  /** How many addresses were dropped as duplicates within the request. */
  readonly duplicates: number;
  /** SHA-256 (hex) of the stored bytes of the content. */
  readonly contentSha256: string;
  /** SHA-256 (hex) of the request, if it came with an idempotency key. */
  readonly requestSha256: string | null;
  /** Null for a job that may start at once; a time in the past at creation becomes null too. */
  readonly scheduledAt: Instant | null;
  readonly notAfter: Instant | null;
  readonly maxAttempts: number;
  /** The first delay between two attempts; null for the service's schedule. */
  readonly retryDelayMs: number | null;
  /**
   * How long after the start of a run its deferred recipients are tried again, apart from the job's attempts and without its
   * pauses. Null or absent for a job that tries them as often as it has attempts.
   */
  readonly deferForMs?: number | null;
  readonly onUnknown: OnUnknown;
  /** The failed job whose unsent recipients this job takes over; null for an ordinary job. */
  readonly requeueOf: string | null;
  /** SHA-256 (hex) of the tenant and the job's group, whose jobs run one at a time; null for none. */
  readonly groupSha256: string | null;
  /** Whether its content names a URL to notify of its end; undefined where only the content knows. */
  readonly hasWebhookUrl?: boolean;
  /** The mailing that the job is a part of; absent for any other job. */
  readonly mailingId?: string;
  /** Absent for a job whose request had words of its own. */
  readonly template?: TemplateUse;
  /** The mail route that the request asked for; absent for any that may carry the mails. */
  readonly route?: string;
};

/** A run is one life of the job from queued to ended; an attempt is one try within a run. Both count from 1. */
export type Turn = { readonly run: number; readonly attempt: number };

/**
 * Numbers the decisions that open a turn: 0 is the first, and each resume or reschedule opens it anew. A turn queued
 * for an earlier opening starts nothing, so that no two clocks have to agree.
 */
export type Opening = { readonly opening: number };

/** What was erased, of a job that had ended. */
export type Erasure = {
  /** The recipients whose address and variables were erased; null for all content and recipients. */
  readonly recipients: readonly number[] | null;
  /** SHA-256 (hex) of the remaining content; null if nothing remains. */
  readonly contentSha256: string | null;
  /** The retention time of the job is over: it is in no list any more, and only in the log. */
  readonly isRetired: boolean;
};

type Queueing = Pick<JobSettings, "type" | "priority" | "groupSha256">;

/**
 * Events that make a job wait carry its kind, priority and group, so that the code that queues it need not read the
 * job.
 */
export type JobEvent =
  | Message<"JobCreated", JobSettings>
  /** The lease: from here on only `worker` processes this attempt. */
  | Message<"JobStarted", Turn & { readonly worker: string }>
  /**
   * The lease returned before the end of the attempt, for example by a worker that is stopping: starting the job then
   * is no takeover.
   */
  | Message<"JobReleased", Turn & { readonly worker: string }>
  /** `attempt` is the next one, which begins at `nextAttemptAt`. */
  | Message<
      "JobRetryScheduled",
      Turn &
        Pick<JobSettings, "type" | "priority"> & {
          readonly nextAttemptAt: Instant;
          readonly error: JobError;
          /** It is for the deferred recipients alone, and uses up none of the job's attempts. */
          readonly isForDeferred?: true;
        }
    >
  | Message<"JobPaused", { readonly reason: string | null }>
  /** `attempt` is the one that was interrupted, or had not begun: a pause uses no attempt up. */
  | Message<
      "JobResumed",
      Turn & Opening & Queueing & { readonly notBefore: Instant | null; readonly reason: string | null }
    >
  /** Another time or another lane for a job that has not started. A paused job stays paused. */
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
  /** From here on, the other job mails the recipients that were unsent in the runs up to `run`, which failed. */
  | Message<"JobRequeued", { readonly run: number; readonly asJobId: string; readonly reason: string | null }>
  /** An operator has looked at the failure of `run` and set it aside. */
  | Message<"DeadLetterIgnored", { readonly run: number; readonly reason: string }>
  | Message<"JobContentErased", Erasure & { readonly reason: string | null }>;

/** The last event of a run. A job that ended may be retried. */
export type JobEnd = Extract<JobEvent, { type: "JobCompleted" | "JobFailed" | "JobCancelled" }>;

export const isJobEnd = <Event extends { readonly type: string }>(event: Event): event is Extract<Event, JobEnd> =>
  event.type === "JobCompleted" || event.type === "JobFailed" || event.type === "JobCancelled";

/** A turn that a worker may take: a decision has opened it, and the time that it waited for has come. */
export type OpenTurn = Turn & Opening & Pick<JobSettings, "type" | "priority">;
