import type { ContentStore } from "../content/content-store.ts";
import { type JobRecord, toJobRecord } from "../domain/job/job-record.ts";
import { foldJobView } from "../domain/job/job-view.ts";
import type { WebhookDelivery } from "../domain/webhooks/events.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";
import { readLabels } from "../history/job-from-log.ts";
import type { Payload } from "../signed-post/signed-post.ts";

/** A job as an answer of the API shows it. */
export type ShowJob = (job: JobRecord) => unknown;

/**
 * The body that a receiver gets, from the log without any read model: the job as it was when it ended, so that it is the
 * same on every attempt, unless what it was called was erased meanwhile.
 */
export async function payloadOf(
  log: EventLog,
  contentStore: ContentStore,
  job: JobRef,
  { type, jobSequence }: WebhookDelivery,
  show: ShowJob,
): Promise<Payload> {
  const history = (await log.readHistory(job)).filter(({ sequence }) => sequence <= jobSequence);
  const view = foldJobView(history.map(({ event }) => event));
  const last = history.at(-1);
  if (view === null || last?.sequence !== jobSequence) {
    throw new Error(`The log has no event ${jobSequence} of job ${job.jobId}.`);
  }
  const data = show(toJobRecord(job.jobId, view, await readLabels(contentStore, job)));
  return { type, timestamp: last.event.at, data };
}
