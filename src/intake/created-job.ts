import type { JobEvent } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";

type JobCreated = Extract<JobEvent, { type: "JobCreated" }>;

export type CreatedJob = {
  readonly jobId: string;
  readonly status: "pending" | "scheduled";
  readonly createdAt: Instant;
};

/** What whoever asked for a job is told: the same on every repetition, whatever became of the job meanwhile. */
export const toCreatedJob = (jobId: string, { at, data }: JobCreated): CreatedJob => ({
  jobId,
  status: data.scheduledAt === null ? "pending" : "scheduled",
  createdAt: at,
});
