import type { Priority } from "../../src/domain/job/events.ts";

/** As it stands in the table `waiting`. */
export type WaitingRow = {
  readonly job_id: string;
  readonly tenant: string;
  readonly due_at: Date;
  readonly run: number;
  readonly attempt: number;
  readonly priority: Priority;
  readonly cause_id: string;
  readonly cause_sequence: number;
  readonly correlation_id: string | null;
};
