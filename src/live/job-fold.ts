import { type JobLabels, type JobRecord, noLabels, toJobRecord } from "../domain/job/job-record.ts";
import { type EventOfJob, evolveJobView, foldJobView, isWholeErasure, type JobView } from "../domain/job/job-view.ts";
import type { StoredEvent } from "../event-log/event-log.ts";

/** The job as it was after an event of the log. */
export type JobMoment = { readonly job: JobRecord; readonly sequence: number };

/**
 * The changes of a job that a watcher has not taken yet. Changes of status are kept until they are taken; of all other
 * changes only the fact that there were some: a slow watcher sees fewer steps, and the same end.
 */
export type JobProgress = {
  /** The oldest change of status that has not been taken yet. */
  takeStatus(): JobMoment | null;
  hasStatus(): boolean;
  hasProgress(): boolean;
  /** The present state of the job, if anything has changed since it was taken last. */
  takeProgress(): JobMoment | null;
  /** The present state of the job, whether or not it was taken before; null before its first event. */
  now(): JobMoment | null;
  /** Changes of status came faster than they were taken, so the fold keeps no more of them. */
  isLost(): boolean;
};

export type JobFold = {
  readonly progress: JobProgress;
  /** Called once, before the first `add`. The fold leaves out what the caller has seen; null asks for the present state. */
  begin(past: readonly StoredEvent[], labels: JobLabels, afterSequence: number | null): void;
  add(entry: StoredEvent): void;
};

/** A job is paused and resumed by hand: a watcher is hardly ever behind by so many. */
const maxStatuses = 100;

/** Events that people can see in the job though its status stays the same. */
const seenTypes: ReadonlySet<EventOfJob["type"]> = new Set([
  "JobCreated",
  "JobStarted",
  "JobRetryScheduled",
  "JobPaused",
  "JobResumed",
  "JobCompleted",
  "JobFailed",
  "JobCancelled",
  "JobRetried",
  "JobRescheduled",
  "JobContentErased",
  "RecipientSent",
  "RecipientDeferred",
  "RecipientFailed",
  "RecipientUnknown",
  "ResultStored",
  "RecipientSuppressed",
] as const);

export function createJobFold(jobId: string): JobFold {
  let labels = noLabels;
  let view: JobView | null = null;
  let sequence = 0;
  let statuses: JobMoment[] = [];
  let room = Number.POSITIVE_INFINITY;
  let isLost = false;
  let hasProgress = false;

  const now = (): JobMoment | null => (view === null ? null : { job: toJobRecord(jobId, view, labels), sequence });

  const add = ({ event, sequence: at }: StoredEvent): void => {
    const before: string | null = view?.status ?? null;
    view = view === null ? foldJobView([event]) : evolveJobView(view, event);
    sequence = at;
    if (isWholeErasure(event)) {
      labels = noLabels;
      // Changes still kept were not taken yet, and must not be taken now with data that is erased.
      statuses = statuses.map((moment) => ({ ...moment, job: { ...moment.job, ...noLabels } }));
    }
    if (view === null || view.status === before) {
      hasProgress ||= view !== null && seenTypes.has(event.type);
      return;
    }
    // A change of status carries the whole job, and with it everything before.
    hasProgress = false;
    isLost ||= statuses.length >= room;
    const moment = now();
    if (!isLost && moment !== null) statuses.push(moment);
  };

  const forget = (): void => {
    statuses = [];
    hasProgress = false;
  };

  return {
    begin: (past, known, afterSequence) => {
      labels = known;
      for (const entry of past) {
        add(entry);
        if (afterSequence === null || entry.sequence <= afterSequence) forget();
      }
      const moment = afterSequence === null ? now() : null;
      if (moment !== null) statuses = [moment];
      // Whatever there was to repeat: from here on the client must keep up by itself.
      room = statuses.length + maxStatuses;
    },
    add,
    progress: {
      now,
      isLost: () => isLost,
      hasStatus: () => statuses.length > 0,
      hasProgress: () => hasProgress,
      takeStatus: () => statuses.shift() ?? null,
      takeProgress: () => {
        const moment = hasProgress ? now() : null;
        hasProgress = false;
        return moment;
      },
    },
  };
}
