import { type EventOfJob, foldJobView, type JobView } from "../../src/domain/job/job-view.ts";

/** A job as its whole history shows it. */
export function viewOf(...history: readonly EventOfJob[]): JobView {
  const view = foldJobView(history);
  if (view === null) throw new Error("The history does not begin with JobCreated.");
  return view;
}

/** All but what was asked for and what happened to the recipients. */
export function shown(...history: readonly EventOfJob[]): Omit<JobView, "settings" | "ledger"> {
  const { settings: _, ledger: __, ...rest } = viewOf(...history);
  return rest;
}
