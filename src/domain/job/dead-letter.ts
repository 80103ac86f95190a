import type { Instant } from "../message.ts";
import type { JobError, JobEvent, JobType, RecipientCounts } from "./events.ts";
import type { JobLabels } from "./job-record.ts";

/** `retried` by hand, `requeued` as another job, or `ignored`: somebody has decided what becomes of it. */
export type DeadLetterStatus = "open" | "requeued" | "ignored" | "retried";

/** What a run that failed leaves behind, for somebody to decide about. */
export type DeadLetter = {
  readonly run: number;
  /** The last attempt of the run. */
  readonly attempt: number;
  readonly error: JobError;
  /** As it was when the job failed. */
  readonly progress: RecipientCounts;
  readonly failedAt: Instant;
  readonly status: DeadLetterStatus;
  /** The job that took up who was not sent. */
  readonly requeuedAs: string | null;
  /** Of the last decision about it: why, by whom and when. */
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

/** `total` counts the recipients of the job: one that expired has not counted them itself, and has mailed none. */
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

/** For the dead letter of that run. */
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
