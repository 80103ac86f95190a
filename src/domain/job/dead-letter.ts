import type { Instant } from "../message.ts";
import type { RecipientOutcome } from "../recipients/events.ts";
import type { JobError, JobEvent, JobType, RecipientCounts } from "./events.ts";
import type { JobLabels } from "./job-record.ts";

/** `retried` by hand, `requeued` as another job, or `ignored`: the decision about the dead letter. */
export const deadLetterStatuses = ["open", "requeued", "ignored", "retried"] as const;
export type DeadLetterStatus = (typeof deadLetterStatuses)[number];

/** The record of a failed run, for an operator to decide about. */
export type DeadLetter = {
  readonly run: number;
  /** The last attempt of the run. */
  readonly attempt: number;
  readonly error: JobError;
  /** What was said most often of the recipients that failed in the run, in the words of their mail servers; null where none failed. */
  readonly reply: string | null;
  /** The same for failures that have the same cause: see causeOf. */
  readonly cause: string;
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

/** What was said of the recipients that failed in a run, and how often, each in the order in which it was said first. */
export type Replies = { readonly run: number; readonly said: readonly (readonly [words: string, times: number])[] };

export const noReplies: Replies = { run: 0, said: [] };

/** A server that says something else about each recipient says nothing that is worth a list. */
const mostReplies = 20;
const mostWords = 500;

export function noteReply(
  { run, said }: Replies,
  { data }: Extract<RecipientOutcome, { readonly type: "RecipientFailed" }>,
): Replies {
  const before = run === data.run ? said : [];
  const words = data.error.message.slice(0, mostWords);
  const isKnown = before.some(([known]) => known === words);
  if (!isKnown && before.length === mostReplies) return { run: data.run, said: before };
  const after = before.map(([known, times]) => [known, times + (known === words ? 1 : 0)] as const);
  return { run: data.run, said: isKnown ? after : [...after, [words, 1]] };
}

function replyOf({ run, said }: Replies, failedRun: number): string | null {
  if (run !== failedRun) return null;
  const most = Math.max(...said.map(([, times]) => times));
  return said.find(([, times]) => times === most)?.[0] ?? null;
}

/** Words that are of one mail alone, such as `2026-11-21T09:30:12.176Z`, `09:30:12`, `4fb4d7f45d1cf` and `2026112109`. */
const ofOneMail =
  /(?:\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?|(?<![\w.])(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{6,}|\d{5,}/gi;
const mostOfCause = 200;

/** The words without what differs from mail to mail, so that failures with one cause have one text. */
export const causeOf = (words: string): string => words.replace(ofOneMail, "…").slice(0, mostOfCause).trim();

/** `total` counts the recipients of the job: a job that expired has not counted them itself, and has mailed none. */
export const createDeadLetter = ({ at, data }: OfType<"JobFailed">, total: number, replies: Replies): DeadLetter => ({
  run: data.run,
  attempt: data.attempt,
  error: data.error,
  reply: replyOf(replies, data.run),
  cause: causeOf(replyOf(replies, data.run) ?? data.error.message),
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
