import type { JobType } from "../domain/job/events.ts";
import type { JobRecord } from "../domain/job/job-record.ts";
import type { JobStatus } from "../domain/job/job-view.ts";
import type { Instant } from "../domain/message.ts";
import type { JobRef } from "../event-log/event-log.ts";

export type JobListOptions = {
  readonly statuses: readonly JobStatus[];
  readonly type: JobType | null;
  readonly createdAfter: Instant | null;
  readonly createdBefore: Instant | null;
  readonly q: string | null;
  readonly page: number;
  readonly pageSize: number;
  readonly cursor: string | null;
  readonly sortBy: "createdAt" | "completedAt";
  readonly order: "asc" | "desc";
};

export type JobList = {
  readonly readSequence: number;
  readonly jobs: readonly JobRecord[];
  readonly total: number;
  readonly nextCursor: string | null;
};

export interface JobQueries {
  find(job: JobRef): Promise<{ readonly readSequence: number; readonly job: JobRecord | null }>;
  list(tenant: string, options: JobListOptions): Promise<JobList>;
}

export type LogStatus = "success" | "failed" | "deferred" | "unknown";

export type LogListOptions = {
  readonly status: LogStatus | null;
  readonly email: string | null;
  readonly after: number | null;
  readonly limit: number;
};

export interface LogQueries {
  list(
    job: JobRef,
    options: LogListOptions,
  ): Promise<{ readonly readSequence: number; readonly entries: readonly unknown[]; readonly next: number | null }>;
}

/** How far the read models have come. */
export interface ReadPosition {
  /** Whether the projection came as far as the sequence within the time. */
  waitFor(projection: "jobs" | "logs", sequence: number, timeoutMs: number): Promise<boolean>;
}
