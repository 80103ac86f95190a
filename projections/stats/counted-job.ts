import type { Opening, Priority, Turn } from "../../src/domain/job/events.ts";
import type { JobStatus } from "../../src/domain/job/job-view.ts";
import type { Instant } from "../../src/domain/message.ts";
import { beginRunInLedger, emptyLedger, type Ledger, recordInLedger } from "../../src/domain/recipients/ledger.ts";
import type { EventOf } from "../projector.ts";

/** Claims and deferrals concern the worker and its ledger: only final outcomes count here. */
export const countedTypes = [
  "JobCreated",
  "JobQueued",
  "JobStarted",
  "JobRetryScheduled",
  "JobPaused",
  "JobResumed",
  "JobRescheduled",
  "JobCompleted",
  "JobFailed",
  "JobCancelled",
  "JobRetried",
  "JobContentErased",
  "RecipientSent",
  "RecipientFailed",
  "RecipientUnknown",
  "RecipientSuppressed",
] as const;

export type CountedEvent = EventOf<(typeof countedTypes)[number]>;

/** The part of a job that decides which count the next event changes. */
export type CountedJob = {
  readonly tenant: string;
  readonly priority: Priority;
  readonly status: JobStatus;
  readonly run: number;
  readonly attempt: number;
  /** See Opening. */
  readonly opening: number;
  /** The time since which a worker could have taken the job; null for a job that does not wait for a worker. */
  readonly waitingSince: Instant | null;
  readonly ledger: Ledger;
};

export function beginCounting(tenant: string, { at, data }: EventOf<"JobCreated">): CountedJob {
  const isScheduled = data.scheduledAt !== null;
  return {
    tenant,
    priority: data.priority,
    status: isScheduled ? "scheduled" : "pending",
    run: 1,
    attempt: 0,
    opening: 0,
    waitingSince: isScheduled ? null : at,
    ledger: emptyLedger(data.total),
  };
}

/** The job after the next event. As in every fold, the ledger is folded in place; the rest is a new value. */
export function countedAfter(job: CountedJob, event: CountedEvent): CountedJob {
  switch (event.type) {
    case "JobQueued":
      return isTurnOf(job, event.data) ? moved(job, "queued", event.at) : job;
    case "JobStarted":
      return moved({ ...job, attempt: event.data.attempt }, "processing", event.at);
    case "JobRetryScheduled":
      return moved({ ...job, opening: 0 }, "retrying", event.at);
    case "JobPaused":
      return moved(job, "paused", event.at);
    case "JobResumed": {
      const status = event.data.notBefore === null ? "pending" : "scheduled";
      const { attempt, opening } = event.data;
      return moved({ ...job, attempt: attempt - 1, opening }, status, event.at);
    }
    case "JobRescheduled": {
      const { priority, scheduledAt, isPaused, opening } = event.data;
      const status = scheduledAt === null ? "pending" : "scheduled";
      return moved({ ...job, priority, opening }, isPaused ? "paused" : status, event.at);
    }
    case "JobCompleted":
      return moved(job, "completed", event.at);
    case "JobFailed":
      return moved(job, "failed", event.at);
    case "JobCancelled":
      return moved(job, "cancelled", event.at);
    case "JobRetried":
      beginRunInLedger(job.ledger, event);
      return moved({ ...job, run: event.data.run, opening: 0, attempt: 0 }, "pending", event.at);
    case "RecipientSent":
    case "RecipientFailed":
    case "RecipientUnknown":
    case "RecipientSuppressed":
      recordInLedger(job.ledger, event);
      return job;
    case "JobCreated":
    case "JobContentErased":
      return job;
  }
}

const isTurnOf = ({ status, run, attempt, opening }: CountedJob, turn: Turn & Opening): boolean =>
  (status === "pending" || status === "scheduled" || status === "retrying") &&
  turn.run === run &&
  turn.attempt === attempt + 1 &&
  turn.opening === opening;

/** A job that is queued again continues the same wait. */
const moved = (job: CountedJob, status: JobStatus, at: Instant): CountedJob => ({
  ...job,
  status,
  waitingSince: status === "pending" || status === "queued" ? (job.waitingSince ?? at) : null,
});
