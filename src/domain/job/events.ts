import type { Instant, Message } from "../message.ts";
import type { RecipientCounts } from "../recipients/ledger.ts";

export type JobType = "email.send";
export type Priority = "high" | "normal" | "low";
export type OnUnknown = "resend" | "skip";
/** Which recipients a retry by hand takes up again. One that was sent is in none of them. */
export type RetryScope = "failed" | "unknown" | "unsent";

/** Why a job or an attempt ended badly. `code` is stable, `message` is for people and names no recipient. */
export type JobError = { readonly code: string; readonly message: string };

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
};

/** A run is one life of the job from queued to ended; an attempt is one try within a run. Both count from 1. */
export type Turn = { readonly run: number; readonly attempt: number };

/** Events that make a job wait carry its priority, so that whoever queues it need not read the job. */
export type JobEvent =
  | Message<"JobCreated", JobSettings>
  /** The lease: from here on `worker`, and nobody else, does this attempt. */
  | Message<"JobStarted", Turn & { readonly worker: string }>
  /** `attempt` is the next one, to begin at `nextAttemptAt`. */
  | Message<
      "JobRetryScheduled",
      Turn & { readonly priority: Priority; readonly nextAttemptAt: Instant; readonly error: JobError }
    >
  | Message<"JobPaused", { readonly reason: string | null }>
  /** `attempt` is the one that was interrupted, or had not begun: a pause uses up none. */
  | Message<
      "JobResumed",
      Turn & { readonly priority: Priority; readonly notBefore: Instant | null; readonly reason: string | null }
    >
  | Message<"JobCompleted", Turn & { readonly counts: RecipientCounts }>
  | Message<"JobFailed", Turn & { readonly error: JobError; readonly counts: RecipientCounts | null }>
  | Message<"JobCancelled", { readonly reason: string | null }>
  /** `run` is the one that begins. */
  | Message<
      "JobRetried",
      Turn & { readonly priority: Priority; readonly scope: RetryScope; readonly reason: string | null }
    >
  /** Who was not sent in the runs up to `run`, which failed, is from here on the other job's to mail. */
  | Message<"JobRequeued", { readonly run: number; readonly asJobId: string; readonly reason: string | null }>
  /** That `run` failed was looked at and set aside. */
  | Message<"DeadLetterIgnored", { readonly run: number; readonly reason: string }>;

/** The job may run now. It stands on the queue's subject, not the job's own: it is a hint that workers act on. */
export type JobQueued = Message<"JobQueued", Turn & { readonly priority: Priority }>;
