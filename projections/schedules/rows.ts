import type { Instant } from "../../src/domain/message.ts";
import type { MadeThing, Schedule, SkipReason } from "../../src/domain/schedule/events.ts";
import { toInstant } from "../instants.ts";
import type { Suffix } from "../projector.ts";

export const scheduleTables = (suffix: Suffix) => ({
  schedules: `schedules${suffix}`,
  firings: `schedule_firings${suffix}`,
});

/**
 * One row for each schedule, ordered by `sequence`, that of its creation; `state` is its last event's, as JSON. The name is
 * null where it is erased. A deleted schedule keeps its row, with `is_listed` 0.
 */
const schedules = `
  schedule_id VARCHAR(64) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  is_listed TINYINT NOT NULL,
  sequence BIGINT NOT NULL,
  name VARCHAR(100) NULL,
  state TEXT NOT NULL,
  PRIMARY KEY (schedule_id),
  KEY by_tenant (tenant, is_listed, sequence)`;

/**
 * One row for each time that fired or failed, and one for times that were skipped together, under the last of them. Ordered by
 * `sequence`, that of its first event: one that fails later keeps its place for those who page through them.
 */
const firings = `
  schedule_id VARCHAR(64) NOT NULL,
  due_at DATETIME(3) NOT NULL,
  tenant VARCHAR(64) NOT NULL,
  sequence BIGINT NOT NULL,
  recorded_at DATETIME(3) NOT NULL,
  outcome VARCHAR(16) NOT NULL,
  first_due_at DATETIME(3) NOT NULL,
  times INT NOT NULL,
  reason VARCHAR(64) NULL,
  places TEXT NULL,
  makes VARCHAR(16) NOT NULL,
  made_id VARCHAR(64) NULL,
  PRIMARY KEY (schedule_id, due_at),
  KEY by_sequence (tenant, schedule_id, sequence)`;

export const scheduleTableDefinitions = { schedules, schedule_firings: firings };

/** A row of the table `schedules`. */
export type ScheduleRow = {
  readonly schedule_id: string;
  readonly tenant: string;
  readonly is_listed: 0 | 1;
  readonly sequence: number;
  readonly name: string | null;
  readonly state: string;
};

export type ScheduleRecord = { readonly id: string; readonly name: string | null; readonly schedule: Schedule };

export const toScheduleRecord = ({ schedule_id: id, name, state }: ScheduleRow): ScheduleRecord => ({
  id,
  name,
  schedule: JSON.parse(state),
});

/** A row of the table `schedule_firings`. */
export type FiringRow = {
  readonly schedule_id: string;
  readonly due_at: Date;
  readonly tenant: string;
  readonly sequence: number;
  readonly recorded_at: Date;
  readonly outcome: "fired" | "skipped" | "failed";
  readonly first_due_at: Date;
  readonly times: number;
  readonly reason: string | null;
  readonly places: string | null;
  readonly makes: MadeThing;
  readonly made_id: string | null;
};

export type FiringRecord = {
  readonly dueAt: Instant;
  readonly at: Instant;
  readonly firstDueAt: Instant;
  readonly count: number;
  readonly makes: MadeThing;
} & (
  | { readonly outcome: "fired"; readonly madeId: string }
  | { readonly outcome: "skipped"; readonly reason: SkipReason }
  | { readonly outcome: "failed"; readonly code: string; readonly places: readonly string[] }
);

export function toFiringRecord(row: FiringRow): FiringRecord {
  const times = {
    dueAt: toInstant(row.due_at),
    at: toInstant(row.recorded_at),
    firstDueAt: toInstant(row.first_due_at),
    count: row.times,
    makes: row.makes,
  };
  const reason = row.reason ?? "";
  switch (row.outcome) {
    case "fired":
      return { ...times, outcome: "fired", madeId: row.made_id ?? "" };
    case "skipped":
      return { ...times, outcome: "skipped", reason: reason as SkipReason };
    case "failed":
      return { ...times, outcome: "failed", code: reason, places: JSON.parse(row.places ?? "[]") };
  }
}
