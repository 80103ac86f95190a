import { cell } from "../../src/domain/recipients/ledger.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { beginCounting, type CountedEvent, type CountedJob, countedAfter } from "./counted-job.ts";

export const activities = [
  "jobs_created",
  "jobs_completed",
  "jobs_failed",
  "jobs_cancelled",
  "mails_sent",
  "mails_failed",
  "mails_unknown",
  "mails_suppressed",
] as const;
export type Activity = (typeof activities)[number];

export type CountRow = Pick<CountedJob, "tenant" | "status" | "priority"> & {
  readonly jobs: number;
  /** Recipients of these jobs that are still to be mailed. */
  readonly unsent: number;
};
export type MinuteRow = { readonly tenant: string; readonly minute: Date } & Readonly<Record<Activity, number>>;

type Counted = StoredEvent<CountedEvent>;

/** The changes of the counts: to be added to the stored ones. A count that rises and falls back is included, as 0. */
export type Tally = {
  add(stored: Counted): void;
  counts(): readonly CountRow[];
  minutes(): readonly MinuteRow[];
};

const minuteMs = 60_000;

/** Counts the events of jobs, and updates the jobs on the way: a job that is completed is removed for good. */
export function createTally(jobs: Map<string, CountedJob>): Tally {
  const counts = new Map<string, CountRow>();
  const minutes = new Map<string, MinuteRow>();

  const count = ({ tenant, status, priority }: CountedJob, jobs: number, unsent: number): void => {
    const key = `${tenant} ${status} ${priority}`;
    const before = counts.get(key) ?? { jobs: 0, unsent: 0 };
    counts.set(key, { tenant, status, priority, jobs: before.jobs + jobs, unsent: before.unsent + unsent });
  };
  const note = ({ tenant, event }: StoredEvent, activity: Activity): void => {
    const began = Math.floor(Date.parse(event.at) / minuteMs) * minuteMs;
    const key = `${tenant} ${began}`;
    const row = minutes.get(key) ?? { tenant, minute: new Date(began), ...nothing };
    minutes.set(key, { ...row, [activity]: row[activity] + 1 });
  };
  const begin = (stored: Counted): void => {
    // An event of a job that was never created is history without effect, as in every fold.
    if (stored.event.type !== "JobCreated") return;
    const job = beginCounting(stored.tenant, stored.event);
    jobs.set(stored.jobId, job);
    count(job, 1, unsentOf(job));
    note(stored, "jobs_created");
  };
  const goOn = (stored: Counted, before: CountedJob): void => {
    const { event, jobId } = stored;
    if (event.type === "JobContentErased") {
      // The job stays counted under its end: history is not undone.
      if (event.data.isRetired) jobs.delete(jobId);
      return;
    }
    const cellBefore = cellOf(before, event);
    // Read before the fold, which changes the ledger in place. An outcome changes its own cell and no other.
    const unsentBefore = cellBefore === undefined ? unsentOf(before) : 0;
    const after = countedAfter(before, event);
    if (cellOf(after, event) !== cellBefore) {
      noteMail(stored);
      if (cellBefore === cell.pending) count(after, 0, -1);
    }
    if (after === before) return;
    jobs.set(jobId, after);
    count(before, -1, -unsentBefore);
    count(after, 1, unsentOf(after));
    if (after.status !== before.status) noteEnd(stored, after);
  };
  const noteMail = (stored: StoredEvent): void => {
    const { type } = stored.event;
    if (type === "RecipientSent") note(stored, "mails_sent");
    if (type === "RecipientFailed") note(stored, "mails_failed");
    if (type === "RecipientUnknown") note(stored, "mails_unknown");
    if (type === "RecipientSuppressed") note(stored, "mails_suppressed");
  };
  const noteEnd = (stored: StoredEvent, { status }: CountedJob): void => {
    if (status === "failed") note(stored, "jobs_failed");
    if (status === "cancelled") note(stored, "jobs_cancelled");
    if (status !== "completed") return;
    note(stored, "jobs_completed");
    jobs.delete(stored.jobId);
  };

  return {
    add: (stored) => {
      const before = jobs.get(stored.jobId);
      if (before === undefined) begin(stored);
      else goOn(stored, before);
    },
    counts: () => [...counts.values()],
    minutes: () => [...minutes.values()],
  };
}

const nothing: Readonly<Record<Activity, number>> = {
  jobs_created: 0,
  jobs_completed: 0,
  jobs_failed: 0,
  jobs_cancelled: 0,
  mails_sent: 0,
  mails_failed: 0,
  mails_unknown: 0,
  mails_suppressed: 0,
};

/** Claims and deferrals are no part of this ledger: see countedTypes. */
const unsentOf = ({ ledger }: CountedJob): number => {
  let unsent = 0;
  for (const value of ledger.cells) if (value === cell.pending) unsent += 1;
  return unsent;
};

/** The state of the one recipient that an event is about; an outcome that changes none is history without effect. */
const cellOf = ({ ledger }: CountedJob, { data }: CountedEvent): number | undefined =>
  "recipient" in data ? ledger.cells[data.recipient] : undefined;
