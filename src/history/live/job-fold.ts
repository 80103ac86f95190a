import { type JobLabels, type JobRecord, noLabels, toJobRecord } from "../../domain/job/job-record.ts";
import { evolveJobView, foldJobView, hasChanged, isWholeErasure, type JobView } from "../../domain/job/job-view.ts";
import type { StoredEvent } from "../../event-log/event-log.ts";
import { createChanges, type Progress } from "./changes.ts";

/** The job as it was after an event of the log. */
export type JobMoment = { readonly job: JobRecord; readonly sequence: number };

export type JobProgress = Progress<JobMoment>;

export type JobFold = {
  readonly progress: JobProgress;
  /** Called once, before the first `add`. The fold leaves out what the caller has seen; null asks for the present state. */
  begin(past: readonly StoredEvent[], labels: JobLabels, afterSequence: number | null): void;
  add(entry: StoredEvent): void;
};

export function createJobFold(jobId: string): JobFold {
  let labels = noLabels;
  let view: JobView | null = null;
  let sequence = 0;

  const now = (): JobMoment | null => (view === null ? null : { job: toJobRecord(jobId, view, labels), sequence });
  const changes = createChanges(now);

  const add = ({ event, sequence: at }: StoredEvent): void => {
    const before = view;
    view = view === null ? foldJobView([event]) : evolveJobView(view, event);
    sequence = at;
    if (isWholeErasure(event)) {
      labels = noLabels;
      // Changes still kept were not taken yet, and must not be taken now with data that is erased.
      changes.rewrite((moment) => ({ ...moment, job: { ...moment.job, ...noLabels } }));
    }
    if (view === null) return;
    if (view.status !== before?.status) changes.status();
    else if (hasChanged(before, view, event)) changes.other();
  };

  return {
    begin: (past, known, afterSequence) => {
      labels = known;
      for (const entry of past) {
        add(entry);
        if (afterSequence === null || entry.sequence <= afterSequence) changes.forget();
      }
      changes.begin(afterSequence === null ? now() : null);
    },
    add,
    progress: changes.progress,
  };
}
