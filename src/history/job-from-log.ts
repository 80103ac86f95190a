import type { ContentStore } from "../content/content-store.ts";
import { readLabels } from "../content/stored-content.ts";
import { type JobRecord, noLabels, toJobRecord } from "../domain/job/job-record.ts";
import { foldJobView, isWholeErasure } from "../domain/job/job-view.ts";
import type { Instant } from "../domain/message.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";

/** `sequence` is the last event that shaped the job. */
export type JobFromLog = { readonly job: JobRecord; readonly sequence: number };

/** A moment of the past: an event of the log (inclusive) or a time. */
export type Moment = { readonly sequence: number } | { readonly time: Instant };

/**
 * One job, folded from its own history without any read model: as it is, or as it was at a moment. Null where the log has
 * no such job, or had none at that moment. Name, subject and metadata come from the content as long as the content exists.
 */
export async function jobFromLog(
  log: EventLog,
  contentStore: ContentStore,
  ref: JobRef,
  asOf: Moment | null = null,
): Promise<JobFromLog | null> {
  const whole = await log.readHistory(ref);
  const history = whole.filter((entry) => asOf === null || isUpTo(asOf, entry));
  const view = foldJobView(history.map(({ event }) => event));
  if (view === null) return null;
  // What was erased later appears at no earlier moment either, even while it is still being overwritten.
  const isErased = whole.some(({ event }) => isWholeErasure(event));
  const labels = isErased ? noLabels : await readLabels(contentStore, ref);
  return { job: toJobRecord(ref.jobId, view, labels), sequence: history.at(-1)?.sequence ?? 0 };
}

/** Times are by the clock of the process that wrote the event; within a job they may differ from the order of the log. */
const isUpTo = (asOf: Moment, { sequence, event }: StoredEvent): boolean =>
  "sequence" in asOf ? sequence <= asOf.sequence : event.at <= asOf.time;
