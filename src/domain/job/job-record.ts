import type { Instant } from "../message.ts";
import type { JobError, JobType, Priority } from "./events.ts";
import { type JobStatus, type JobView, type Progress, progressOf } from "./job-view.ts";

/** The part of a job's content that is shown with it; null and empty once it was erased. */
export type JobLabels = {
  readonly name: string | null;
  readonly subject: string | null;
  readonly metadata: Readonly<Record<string, string>>;
};

/** For a job whose content was erased. */
export const noLabels: JobLabels = { name: null, subject: null, metadata: {} };

/** One job as the query side returns it, the same from a read model and directly from the log. */
export type JobRecord = JobLabels & {
  readonly id: string;
  readonly type: JobType;
  readonly status: JobStatus;
  readonly priority: Priority;
  readonly progress: Progress;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly createdAt: Instant;
  readonly scheduledAt: Instant | null;
  readonly startedAt: Instant | null;
  readonly completedAt: Instant | null;
  readonly nextAttemptAt: Instant | null;
  readonly error: JobError | null;
  readonly requeueOf: string | null;
  readonly mailingId: string | null;
};

export const toJobRecord = (id: string, view: JobView, labels: JobLabels): JobRecord => ({
  id,
  type: view.settings.type,
  status: view.status,
  priority: view.settings.priority,
  progress: progressOf(view),
  attempt: view.attempt,
  maxAttempts: view.settings.maxAttempts,
  createdAt: view.createdAt,
  scheduledAt: view.settings.scheduledAt,
  startedAt: view.startedAt,
  completedAt: view.completedAt,
  nextAttemptAt: view.nextAttemptAt,
  error: view.error,
  requeueOf: view.settings.requeueOf,
  mailingId: view.settings.mailingId ?? null,
  name: labels.name,
  subject: labels.subject,
  metadata: labels.metadata,
});
