import type { RecipientCounts } from "../../../domain/job/events.ts";
import { type EventOfJob, foldJobView, type JobView, progressOf } from "../../../domain/job/job-view.ts";
import type { EventAnswer } from "../api/answers.ts";

export type JobAt = Pick<JobView, "status" | "run" | "attempt" | "error" | "nextAttemptAt"> & {
  readonly progress: RecipientCounts;
};

/** The job as it was after the first `count` events of its history: the domain's own fold, run here. */
export function jobAt(history: readonly EventAnswer[], count: number): JobAt | null {
  const view = foldJobView(history.slice(0, count).map(toEvent));
  if (view === null) return null;
  const { status, run, attempt, error, nextAttemptAt } = view;
  return { status, run, attempt, error, nextAttemptAt, progress: progressOf(view) };
}

// The API's answer was checked against the schema of its type when the service read it from the log.
const toEvent = ({ type, time, data }: EventAnswer): EventOfJob => ({ type, at: time, data }) as EventOfJob;
