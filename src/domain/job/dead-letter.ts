import type { Instant } from "../message.ts";
import type { JobError, JobEvent, JobType, RecipientCounts } from "./events.ts";
import type { JobLabels } from "./job-record.ts";

/** `retried` by hand, `requeued` as another job, or `ignored`: the decision about the dead letter. */
export type DeadLetterStatus = "open" | "requeued" | "ignored" | "retried";

/** The record of a failed run, for an operator to decide about. */
export type DeadLetter = {
  readonly run: number;
  /** The last attempt of the run. */
  readonly attempt: number;
  readonly error: JobError;
  /** As it was when the job failed. */
  readonly progress: RecipientCounts;
  readonly failedAt: Instant;
  readonly status: DeadLetterStatus;
  /** The job that took over the unsent recipients. */
  readonly requeuedAs: string | null;
  /** Reason, actor and time of the last decision about it. */
  readonly reason: string | null;
  readonly decidedBy: string | null;
  readonly decidedAt: Instant | null;
};

/** A dead letter as the query side answers it, the same from a read model and from the log. */
export type DeadLetterRecord = DeadLetter &
  Pick<JobLabels, "name" | "subject"> & {
    readonly jobId: string;
    readonly type: JobType;
  };

type OfType<Type extends JobEvent["type"]> = Extract<JobEvent, { type: Type }>;

export type DeadLetterDecision = OfType<"JobRetried" | "JobRequeued" | "DeadLetterIgnored">;

/** `total` counts the recipients of the job: a job that expired has not counted them itself, and has mailed none. */
export const createDeadLetter = ({ at, data }: OfType<"JobFailed">, total: number): DeadLetter => ({
  run: data.run,
  attempt: data.attempt,
  error: data.error,
  progress: data.counts ?? { total, sent: 0, failed: 0, pending: total, deferred: 0, unknown: 0, suppressed: 0 },
  failedAt: at,
  status: "open",
  requeuedAs: null,
  reason: null,
  decidedBy: null,
  decidedAt: null,
});

/** The run whose dead letter is decided about: a retry names the run that it begins. */
export const runDecidedAbout = (event: DeadLetterDecision): number =>
  event.type === "JobRetried" ? event.data.run - 1 : event.data.run;

/** A decision about the dead letter of that run. */
export function decideDeadLetter(letter: DeadLetter, event: DeadLetterDecision, actor: string): DeadLetter {
  const decided = { ...letter, reason: event.data.reason, decidedBy: actor, decidedAt: event.at };
  switch (event.type) {
    case "JobRetried":
      return { ...decided, status: "retried" };
    case "JobRequeued":
      return { ...decided, status: "requeued", requeuedAs: event.data.asJobId };
    case "DeadLetterIgnored":
      return { ...decided, status: "ignored" };
  }
}
