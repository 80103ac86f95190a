import type { JobType } from "../../src/domain/job/events.ts";
import type { JobStatus } from "../../src/domain/job/job-view.ts";
import type { Instant } from "../../src/domain/message.ts";
import type { JobOrder } from "./cursor.ts";

export type JobListOptions = JobOrder & {
  /** None means any. */
  readonly statuses: readonly JobStatus[];
  readonly type: JobType | null;
  /** Both exclude the instant itself. */
  readonly createdAfter: Instant | null;
  readonly createdBefore: Instant | null;
  /** Part of the subject or the name, whatever the case. An answer looks through as many jobs as SearchBounds say. */
  readonly q: string | null;
  /** From 1; without meaning where there is a cursor. */
  readonly page: number;
  readonly pageSize: number;
  readonly cursor: string | null;
};
