import type { JobType, Priority } from "../../src/domain/job/events.ts";
import type { Suffix } from "../projector.ts";

export const waitingTable = (suffix: Suffix): string => `waiting${suffix}`;

/** See WaitingRow. `cause_*` is the decision that made the job wait. */
const waiting = `
  job_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  group_sha256 CHAR(64) NULL,
  place BIGINT NOT NULL,
  due_at DATETIME(3) NULL,
  ready_at DATETIME(3) NULL,
  handed_over_at DATETIME(3) NULL,
  run INT NOT NULL,
  attempt INT NOT NULL,
  opening INT NOT NULL,
  type VARCHAR(32) NOT NULL,
  priority VARCHAR(16) NOT NULL,
  cause_id VARCHAR(255) NOT NULL,
  cause_sequence BIGINT NOT NULL,
  correlation_id VARCHAR(255) NULL,
  traceparent VARCHAR(64) NULL,
  PRIMARY KEY (job_id),
  KEY by_readiness (ready_at),
  KEY by_handover (handed_over_at),
  KEY by_group (group_sha256, place)`;

export const waitingTableDefinitions = { waiting };

/**
 * A row of the table `waiting`: a job that waits for a time, or a job of a group until it has ended. `due_at` is null
 * while it waits for no time, because it is processing or paused. `place` orders the jobs of a group; the first of
 * them has its turn, and holds back the others.
 */
export type WaitingRow = {
  readonly job_id: string;
  readonly tenant: string;
  readonly group_sha256: string | null;
  readonly place: number;
  readonly due_at: Date | null;
  /** `due_at` if no job of its group is before it, until its turn is put: the scheduler searches this column. */
  readonly ready_at: Date | null;
  /** When its turn was put; the turn is missing if it is then not on the queue, and the row is still here. */
  readonly handed_over_at: Date | null;
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
