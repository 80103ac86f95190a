import type { Instant } from "../message.ts";
import type { Erasure, JobError, JobSettings, Opening, Priority, RecipientCounts, RetryScope, Turn } from "./events.ts";

type Command<Type extends string, Data = unknown> = { readonly type: Type; readonly at: Instant } & Data;

/** The attempt that a worker believes to hold. */
type OfLease = Turn & { readonly worker: string };

export type JobCommand =
  | Command<"CreateJob", { readonly settings: JobSettings }>
  /**
   * From a worker that received the job and made sure that no other live worker is doing it. `hasProgressed`: the workers
   * that died or broke off got further, and no recipient was on its way with each of them.
   */
  | Command<"StartJob", OfLease & Opening & { readonly hasProgressed?: boolean }>
  /** From a worker that is stopping, or that the log kept from going on: the job is responsible for neither. */
  | Command<"ReleaseJob", OfLease>
  /** From a worker that was refused the lease because the attempt was taken over too often. */
  | Command<"EndTakeovers", Turn & Opening & { readonly counts: RecipientCounts }>
  | Command<"CompleteJob", OfLease & { readonly counts: RecipientCounts }>
  | Command<"FailJob", OfLease & { readonly error: JobError; readonly counts: RecipientCounts }>
  | Command<
      "ScheduleRetry",
      OfLease & {
        readonly error: JobError;
        readonly counts: RecipientCounts;
        readonly nextAttemptAt: Instant;
        /** Nothing failed but that some recipients were deferred, whose patience is not over. */
        readonly isForDeferred: boolean;
      }
    >
  | Command<"CancelJob", { readonly reason: string | null }>
  | Command<"RetryJob", { readonly scope: RetryScope; readonly reason: string | null }>
  | Command<"PauseJob", { readonly reason: string | null }>
  | Command<"ResumeJob", { readonly reason: string | null }>
  /** Null is now; an absent field stays as it is. */
  | Command<
      "RescheduleJob",
      { readonly scheduledAt?: Instant | null; readonly priority?: Priority; readonly reason: string | null }
    >
  /**
   * `run` identifies the dead letter of a failed run. `insteadOf` is the job that was to take it up before and was
   * abandoned; null for none.
   */
  | Command<
      "RequeueDeadLetter",
      {
        readonly run: number;
        readonly asJobId: string;
        readonly insteadOf: string | null;
        readonly reason: string | null;
      }
    >
  | Command<"IgnoreDeadLetter", { readonly run: number; readonly reason: string }>
  | Command<"EraseContent", Erasure & { readonly reason: string | null }>
  /**
   * For a job that was not created: a process that is still between storing its content and creating it may no longer
   * create it.
   */
  | Command<"AbandonJob", { readonly reason: string }>;
