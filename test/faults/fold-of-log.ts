import type { RawEvent } from "./log-reader.ts";

/**
 * What the log says of each job, folded here once more and on purpose without the service's own code: a mistake in one
 * of the two would show as a difference. The load never retries by hand or pauses, so there is one run.
 */
export type FoldedJob = {
  readonly jobId: string;
  readonly total: number;
  readonly createdAt: string;
  status: string;
  attempt: number;
  startedAt: string | null;
  completedAt: string | null;
  nextAttemptAt: string | null;
  errorCode: string | null;
  /** How often it was created and how often it ended: once each. */
  creations: number;
  ends: number;
  /** The counters as the event said with which it ended. */
  countsAtEnd: unknown;
  lastSequence: number;
  /** By index: `sent`, `failed`, `unknown`, `suppressed`, `deferred`; none for one that is still to be mailed. */
  readonly outcomes: Map<number, string>;
  /** By index, those whose mail came back. */
  readonly bounced: Set<number>;
  readonly lines: LogLine[];
};

/** What happened to one recipient in one attempt. */
export type LogLine = {
  readonly id: string;
  readonly recipient: number;
  readonly status: string;
  readonly attempt: number;
  readonly messageId: string | null;
  readonly errorCode: string | null;
};

/** What came back about the mails of a job, besides what became of its recipients. */
export type CameBack = { readonly bounced: number; readonly complained: number };

export const cameBackOf = ({ bounced }: FoldedJob): CameBack => ({ bounced: bounced.size, complained: 0 });

export type Counts = Readonly<
  Record<"total" | "sent" | "failed" | "pending" | "deferred" | "unknown" | "suppressed", number>
>;

export function foldLog(events: readonly RawEvent[]): ReadonlyMap<string, FoldedJob> {
  const jobs = new Map<string, FoldedJob>();
  for (const event of events) {
    const job = jobs.get(event.jobId);
    if (job === undefined) {
      if (event.type === "JobCreated") jobs.set(event.jobId, toJob(event));
      continue;
    }
    job.lastSequence = event.sequence;
    if (event.type.startsWith("Recipient")) foldRecipient(job, event);
    else foldDecision(job, event);
  }
  return jobs;
}

export const hasEnded = ({ ends }: FoldedJob): boolean => ends > 0;

export function countsOf({ total, outcomes }: FoldedJob): Counts {
  const count = (outcome: string): number => [...outcomes.values()].filter((other) => other === outcome).length;
  const [sent, failed, deferred] = [count("sent"), count("failed"), count("deferred")];
  const [unknown, suppressed] = [count("unknown"), count("suppressed")];
  const pending = total - sent - failed - deferred - unknown - suppressed;
  return { total, sent, failed, pending, deferred, unknown, suppressed };
}

const toJob = ({ jobId, time, sequence, data }: RawEvent): FoldedJob => ({
  jobId,
  total: Number(data["total"]),
  createdAt: time,
  status: data["scheduledAt"] === null ? "queued" : "scheduled",
  attempt: 0,
  startedAt: null,
  completedAt: null,
  nextAttemptAt: null,
  errorCode: null,
  creations: 1,
  ends: 0,
  countsAtEnd: null,
  lastSequence: sequence,
  outcomes: new Map(),
  bounced: new Set(),
  lines: [],
});

const outcomeOf = new Map([
  ["RecipientSent", "sent"],
  ["RecipientFailed", "failed"],
  ["RecipientUnknown", "unknown"],
  ["RecipientSuppressed", "suppressed"],
  ["RecipientDeferred", "deferred"],
]);

/** Of a recipient's outcomes the first final one stands. */
function foldRecipient(job: FoldedJob, { type, sequence, index, data }: RawEvent): void {
  if (type === "RecipientBounced") {
    const [recipient, errorCode] = [Number(data["recipient"]), `${data["bounce"]}-bounce`];
    job.bounced.add(recipient);
    const line = { id: `${sequence}.${index}`, recipient, status: "bounced", attempt: job.attempt };
    job.lines.push({ ...line, messageId: null, errorCode });
    return;
  }
  const outcome = outcomeOf.get(type);
  if (outcome === undefined) return;
  const recipient = Number(data["recipient"]);
  const standing = job.outcomes.get(recipient);
  if (standing === undefined || standing === "deferred") job.outcomes.set(recipient, outcome);
  job.lines.push({
    id: `${sequence}.${index}`,
    recipient,
    status: outcome === "sent" ? "success" : outcome,
    attempt: Number(data["attempt"]),
    messageId: (data["messageId"] as string | undefined) ?? null,
    errorCode: type === "RecipientSuppressed" ? String(data["reason"]) : codeOf(data),
  });
}

function foldDecision(job: FoldedJob, { type, time, data }: RawEvent): void {
  if (type === "JobCreated") job.creations += 1;
  if (type === "JobStarted") {
    job.startedAt ??= time;
    Object.assign(job, { status: "processing", attempt: data["attempt"], nextAttemptAt: null, errorCode: null });
  }
  if (type === "JobRetryScheduled") {
    Object.assign(job, { status: "retrying", nextAttemptAt: data["nextAttemptAt"], errorCode: codeOf(data) });
  }
  if (type !== "JobCompleted" && type !== "JobFailed") return;
  job.ends += 1;
  const status = type === "JobCompleted" ? "completed" : "failed";
  Object.assign(job, { status, completedAt: time, nextAttemptAt: null, countsAtEnd: data["counts"] });
  if (status === "failed") job.errorCode = codeOf(data);
}

const codeOf = (data: RawEvent["data"]): string | null =>
  (data["error"] as { readonly code: string } | undefined)?.code ?? null;
