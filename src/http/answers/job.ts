import { Type } from "typebox";
import type { JobRecord } from "../../domain/job/job-record.ts";
import { jobStatuses } from "../../domain/job/job-view.ts";
import { findKind } from "../../job-kinds/all-job-kinds.ts";
import {
  type AnswerOf,
  count,
  error,
  instant,
  jobId,
  named,
  ordinal,
  orNull,
  priority,
  progress,
  recordOf,
  searchedPageOf,
  templateUse,
  text,
} from "./parts.ts";

const jobFields = {
  id: jobId,
  type: text,
  name: orNull(text),
  status: Type.Enum([...jobStatuses]),
  priority,
  progress,
  subject: orNull(text),
  attempt: count,
  maxAttempts: ordinal,
  createdAt: instant,
  scheduledAt: orNull(instant),
  startedAt: orNull(instant),
  completedAt: orNull(instant),
  nextAttemptAt: orNull(instant),
  error: orNull(error),
  requeueOf: orNull(jobId),
  mailing: orNull(jobId),
  metadata: recordOf(text),
  links: named("JobLinks", { self: text, logs: text, events: text, stream: text, result: Type.Optional(text) }),
};

export const job = named("Job", jobFields);

export type JobAnswer = AnswerOf<typeof job>;

export const jobPage = searchedPageOf("JobPage", job);

/** `base` is the base path of the request, `/api` or `/api/v1`. */
export function toJobAnswer(job: JobRecord, base: string): JobAnswer {
  const self = jobPath(base, job.id);
  const { sent, failed, total, pending, deferred, unknown, suppressed, bounced, complained } = job.progress;
  return {
    id: job.id,
    type: job.type,
    name: job.name,
    status: job.status,
    priority: job.priority,
    progress: { sent, failed, total, pending, deferred, unknown, suppressed, bounced, complained },
    subject: job.subject,
    attempt: job.attempt,
    maxAttempts: job.maxAttempts,
    createdAt: job.createdAt,
    scheduledAt: job.scheduledAt,
    startedAt: job.startedAt,
    completedAt: job.completedAt,
    nextAttemptAt: job.nextAttemptAt,
    error: job.error,
    requeueOf: job.requeueOf,
    mailing: job.mailingId,
    metadata: job.metadata,
    links: { self, logs: `${self}/logs`, events: `${self}/events`, stream: `${self}/stream`, ...resultLink(job, self) },
  };
}

export const jobPath = (base: string, jobId: string): string => `${base}/jobs/${jobId}`;

/** Only jobs of a kind that produces a file have these fields. */
const resultLink = ({ type }: JobRecord, self: string): { readonly result?: string } =>
  findKind(type)?.file === undefined ? {} : { result: `${self}/result` };

const createdFields = {
  jobId,
  status: Type.Enum(["pending", "scheduled"]),
  createdAt: instant,
  duplicates: count,
  template: Type.Optional(templateUse),
};
const created = named("CreatedJob", createdFields);

export type CreatedAnswer = AnswerOf<typeof created>;

/** With `Prefer: wait=N` the answer is the job as it stood when the answer was sent. */
export const createdJob = Type.Union([created, named("CreatedJobAwaited", { ...createdFields, ...jobFields })]);

const attachment = Type.Object({
  filename: text,
  contentType: text,
  contentId: orNull(text),
  size: count,
  sha256: text,
});

export const dryRunResult = named("DryRun", {
  dryRun: Type.Literal(true),
  recipients: count,
  duplicates: count,
  mail: Type.Object({
    from: text,
    to: text,
    replyTo: orNull(text),
    subject: text,
    html: orNull(text),
    text: orNull(text),
    headers: recordOf(text),
    attachments: Type.Array(attachment),
    size: count,
    raw: text,
  }),
  warnings: Type.Array(Type.Object({ code: text, message: text })),
});
