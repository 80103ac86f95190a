import type { JobSettings } from "../job/events.ts";
import type { JobLabels } from "../job/job-record.ts";
import type { Progress } from "../job/job-view.ts";
import type { Instant } from "../message.ts";
import type { Brakes, StoppedBy } from "./brakes.ts";
import type { Approval, ExistingMailing, KnownTest, MailingStatus } from "./state.ts";

export const shownStatuses = [
  "draft",
  "awaiting-approval",
  "scheduled",
  "processing",
  "paused",
  "completed",
  "completed-with-failures",
  "failed",
  "cancelled",
] as const;

export type ShownStatus = (typeof shownStatuses)[number];

/** One mailing as the query side returns it, the same from a read model and directly from the log. */
export type MailingRecord = JobLabels &
  Pick<JobSettings, "priority" | "maxAttempts" | "notAfter"> & {
    readonly id: string;
    readonly status: ShownStatus;
    /** Of all recipients, also of those in parts that are no jobs yet. */
    readonly progress: Progress;
    readonly parts: number;
    /** How many of them are jobs. */
    readonly partsMade: number;
    readonly createdAt: Instant;
    readonly scheduledAt: Instant | null;
    readonly startedAt: Instant | null;
    /** Until then the start can be taken back. */
    readonly undoUntil: Instant | null;
    readonly approval: Approval | null;
    /** The oldest first. */
    readonly tests: readonly KnownTest[];
    /** Null for a mailing that goes out as fast as it can. */
    readonly brakes: Brakes | null;
    /** The failures because of which it stopped by itself, until it is resumed. */
    readonly stoppedBy: StoppedBy | null;
    readonly completedAt: Instant | null;
  };

/**
 * A mailing that was started for a later time is scheduled until work on one of its parts has begun, and one that can be
 * taken back until then. `until` is the later of the two; null for none.
 */
export function shownStatus(status: MailingStatus, until: Instant | null, hasBegun: boolean): ShownStatus {
  if (status !== "started") return status;
  return until !== null && !hasBegun ? "scheduled" : "processing";
}

/** A record of a moment ago, with what was decided since. */
export function mailingAfter(record: MailingRecord, state: ExistingMailing): MailingRecord {
  const { total, pending } = record.progress;
  const hasBegun = record.status === "processing" || pending < total;
  const added = state.parts.reduce((sum, { recipients }) => sum + recipients, 0) - total;
  return {
    ...record,
    status: shownStatus(state.status, state.undoUntil ?? state.scheduledAt, hasBegun),
    progress: { ...record.progress, total: total + added, pending: pending + added },
    parts: state.parts.length,
    scheduledAt: state.scheduledAt,
    startedAt: state.startedAt,
    undoUntil: state.undoUntil,
    approval: state.approval,
    tests: state.tests,
    stoppedBy: state.stoppedBy,
    completedAt: state.endedAt,
  };
}
