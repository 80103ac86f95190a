import type { Opening, Turn } from "../../src/domain/job/events.ts";
import type { Instant } from "../../src/domain/message.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { toDate } from "../instants.ts";
import type { EventOf } from "../projector.ts";
import type { WaitingRow } from "./rows.ts";

type TurnOfJob = Turn & Opening & Pick<WaitingRow, "type" | "priority">;

/** The effect of an event on the one row that its job may have. */
type Effect =
  | {
      readonly waits: TurnOfJob;
      readonly until: Instant | null;
      readonly group: string | null;
      readonly joins: boolean;
    }
  /** The job waits for nothing; a job of a group keeps its place. */
  | "rests"
  | "ends"
  | null;

/**
 * The row of a job after an event, given the row before. It does not show whether other jobs of its group are before
 * it: `ready_at` is null if there is a group, and is set when the rows of the group are known.
 */
export function waitingRowAfter(
  before: WaitingRow | undefined,
  stored: StoredEvent<WaitingEvent>,
): WaitingRow | undefined {
  const effect = effectOf(stored.event);
  if (effect === null) return before;
  if (effect === "ends") return undefined;
  if (effect === "rests") return resting(before);
  const { waits, until, group, joins } = effect;
  const groupSha256 = group ?? before?.group_sha256 ?? null;
  if (until === null && groupSha256 === null) return undefined;
  const dueAt = toDate(until ?? stored.event.at);
  const { run, attempt, opening, type, priority } = waits;
  return {
    job_id: stored.jobId,
    tenant: stored.tenant,
    group_sha256: groupSha256,
    place: joins ? stored.sequence : (before?.place ?? stored.sequence),
    due_at: dueAt,
    ready_at: groupSha256 === null ? dueAt : null,
    handed_over_at: null,
    run,
    attempt,
    opening,
    type,
    priority,
    cause_id: stored.id,
    cause_sequence: stored.sequence,
    correlation_id: stored.correlationId,
    traceparent: stored.traceparent,
  };
}

export const waitingTypes = [
  "JobCreated",
  "JobRetryScheduled",
  "JobResumed",
  "JobRescheduled",
  "JobRetried",
  "JobStarted",
  "JobPaused",
  "JobCompleted",
  "JobFailed",
  "JobCancelled",
] as const;

export type WaitingEvent = EventOf<(typeof waitingTypes)[number]>;

function effectOf(event: WaitingEvent): Effect {
  switch (event.type) {
    case "JobCreated": {
      const { scheduledAt, type, priority, groupSha256 } = event.data;
      if (scheduledAt === null && groupSha256 === null) return null;
      const waits = { run: 1, attempt: 1, opening: 0, type, priority };
      return { waits, until: scheduledAt, group: groupSha256, joins: true };
    }
    case "JobRetryScheduled":
      return { waits: { ...event.data, opening: 0 }, until: event.data.nextAttemptAt, group: null, joins: false };
    case "JobResumed":
      return { waits: event.data, until: event.data.notBefore, group: event.data.groupSha256, joins: false };
    case "JobRescheduled":
      if (event.data.isPaused) return "rests";
      return { waits: event.data, until: event.data.scheduledAt, group: event.data.groupSha256, joins: false };
    case "JobRetried":
      return { waits: { ...event.data, opening: 0 }, until: null, group: event.data.groupSha256, joins: true };
    case "JobStarted":
    case "JobPaused":
      return "rests";
    case "JobCompleted":
    case "JobFailed":
    case "JobCancelled":
      return "ends";
  }
}

const resting = (row: WaitingRow | undefined): WaitingRow | undefined =>
  row === undefined || row.group_sha256 === null
    ? undefined
    : { ...row, due_at: null, ready_at: null, handed_over_at: null };
