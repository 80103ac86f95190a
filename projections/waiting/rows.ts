import type { JobType, Priority } from "../../src/domain/job/events.ts";

/**
 * As it stands in the table `waiting`: a job that waits for a time, or one of a group, until it has ended. `due_at` is
 * null while it waits for neither, being queued, done or paused. `place` orders the jobs of a group; the first of them
 * has its turn, and holds back the others.
 */
export type WaitingRow = {
  readonly job_id: string;
  readonly tenant: string;
  readonly group_sha256: string | null;
  readonly place: number;
  readonly due_at: Date | null;
  /** `due_at` where nobody of its group is before it: what the scheduler looks for. */
  readonly ready_at: Date | null;
  readonly run: number;
  readonly attempt: number;
  readonly opening: number;
  readonly type: JobType;
  readonly priority: Priority;
  readonly cause_id: string;
  readonly cause_sequence: number;
  readonly correlation_id: string | null;
  readonly traceparent: string | null;
};
