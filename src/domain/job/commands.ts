import type { Instant } from "../message.ts";
import type { Erasure, JobError, JobSettings, Opening, Priority, RecipientCounts, RetryScope, Turn } from "./events.ts";

type Command<Type extends string, Data = unknown> = { readonly type: Type; readonly at: Instant } & Data;

/** What a worker says of the attempt it believes to hold. */
type OfLease = Turn & { readonly worker: string };

export type JobCommand =
  | Command<"CreateJob", { readonly settings: JobSettings }>
  /** Said by a worker that was handed the job and made sure that no other one alive is doing it. */
  | Command<"StartJob", OfLease & Opening>
  /** Said by a worker that is stopping, or that the log kept from going on: neither is for the job to answer for. */
  | Command<"ReleaseJob", OfLease>
  /** Said by a worker that was refused the lease because the attempt was taken over too often. */
  | Command<"EndTakeovers", Turn & Opening & { readonly counts: RecipientCounts }>
  | Command<"CompleteJob", OfLease & { readonly counts: RecipientCounts }>
  | Command<"FailJob", OfLease & { readonly error: JobError; readonly counts: RecipientCounts }>
  | Command<
      "ScheduleRetry",
      OfLease & { readonly error: JobError; readonly counts: RecipientCounts; readonly nextAttemptAt: Instant }
    >
  | Command<"CancelJob", { readonly reason: string | null }>
  | Command<"RetryJob", { readonly scope: RetryScope; readonly reason: string | null }>
  | Command<"PauseJob", { readonly reason: string | null }>
  | Command<"ResumeJob", { readonly reason: string | null }>
  /** Null is now; what is left out stays as it is. */
  | Command<
      "RescheduleJob",
      { readonly scheduledAt?: Instant | null; readonly priority?: Priority; readonly reason: string | null }
    >
  /**
   * `run` names the dead letter: what a run that failed left behind. `insteadOf` names the job that was to be made of it
   * before and was abandoned; null for none.
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
  /** Said of a job that was not created: whoever still stands between its content and its creation may not create it. */
  | Command<"AbandonJob", { readonly reason: string }>;
