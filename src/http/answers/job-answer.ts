import type { JobRecord } from "../../domain/job/job-record.ts";

/** A job as it stands in an answer. `base` is the path that the request came by, `/api` or `/api/v1`. */
export function toJobAnswer(job: JobRecord, base: string) {
  const self = jobPath(base, job.id);
  const { sent, failed, total, pending, deferred, unknown, suppressed } = job.progress;
  return {
    id: job.id,
    type: job.type,
    name: job.name,
    status: job.status,
    priority: job.priority,
    progress: { sent, failed, total, pending, deferred, unknown, suppressed },
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
    metadata: job.metadata,
    links: { self, logs: `${self}/logs`, events: `${self}/events`, stream: `${self}/stream`, ...resultLink(job, self) },
  };
}

export const jobPath = (base: string, jobId: string): string => `${base}/jobs/${jobId}`;

/** Of a job of a kind that makes a file. */
const resultLink = ({ type }: JobRecord, self: string): { readonly result?: string } =>
  type === "report.export" ? { result: `${self}/result` } : {};
