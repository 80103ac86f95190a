import type { ContentStore, JobContent } from "../content/content-store.ts";
import { decodeContent } from "../content/encode-content.ts";
import { type JobLabels, type JobRecord, toJobRecord } from "../domain/job/job-record.ts";
import { foldJobView } from "../domain/job/job-view.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";

/** `sequence` is that of the last event that made the job what it is. */
export type JobFromLog = { readonly job: JobRecord; readonly sequence: number };

/** One job, folded from its own history without any read model; null where the log knows no such job. */
export async function jobFromLog(log: EventLog, contentStore: ContentStore, ref: JobRef): Promise<JobFromLog | null> {
  const history = await log.readHistory(ref);
  const view = foldJobView(history.map(({ event }) => event));
  if (view === null) return null;
  const labels = await readLabels(contentStore, ref);
  return { job: toJobRecord(ref.jobId, view, labels), sequence: history.at(-1)?.sequence ?? 0 };
}

/** What of a job's content is shown with it. */
export async function readLabels(contentStore: ContentStore, ref: JobRef): Promise<JobLabels> {
  const stored = await contentStore.get(ref);
  return stored === null ? erased : labelsOf(decodeContent(stored));
}

const erased: JobLabels = { name: null, subject: null, metadata: {} };

const labelsOf = ({ name, subject, metadata }: JobContent): JobLabels => ({ name, subject, metadata });
