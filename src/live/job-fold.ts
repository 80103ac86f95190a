import { type JobLabels, type JobRecord, noLabels, toJobRecord } from "../domain/job/job-record.ts";
import { type EventOfJob, evolveJobView, foldJobView, isWholeErasure, type JobView } from "../domain/job/job-view.ts";
import type { StoredEvent } from "../event-log/event-log.ts";

/** The job as it was after an event of the log. */
export type JobMoment = { readonly job: JobRecord; readonly sequence: number };

/**
 * What is to be told of a job. Changes of status are held until they are taken; of everything else only that there was
 * some: whoever is slow sees less of the way, and the same end.
 */
export type JobProgress = {
  /** The oldest change of status that nobody has taken yet. */
  takeStatus(): JobMoment | null;
  hasStatus(): boolean;
  hasProgress(): boolean;
  /** How the job stands, where anything has changed since it was told the last time. */
  takeProgress(): JobMoment | null;
  /** How the job stands, whatever was told before; null before its first event. */
  now(): JobMoment | null;
  /** Changes of status came faster than they were taken, and no more of them are held. */
  isLost(): boolean;
};

export type JobFold = {
  readonly progress: JobProgress;
  /** Once, before the first `add`. What the caller has seen is told no more; null is told how the job stands now. */
  begin(past: readonly StoredEvent[], labels: JobLabels, afterSequence: number | null): void;
  add(entry: StoredEvent): void;
};

/** A job is paused and resumed by hand: hardly anybody is behind by so many. */
const maxStatuses = 100;

/** Of these people see something in the job, where its status stays the same. */
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
      // What was held was not told yet, and is not to be told with what is erased.
      statuses = statuses.map((moment) => ({ ...moment, job: { ...moment.job, ...noLabels } }));
    }
    if (view === null || view.status === before) {
      hasProgress ||= view !== null && seenTypes.has(event.type);
      return;
    }
    // A change of status tells the whole job, and with it everything before.
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
      // However much there was to tell again: from here on it is for the client to keep up.
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
