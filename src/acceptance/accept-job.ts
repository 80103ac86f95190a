import { handleCommand, newJob, readJob } from "../commands/handle-command.ts";
import type { ContentStore } from "../content/content-store.ts";
import { digestOf } from "../content/encode-content.ts";
import { eraseAttachments } from "../content/erase-attachments.ts";
import type { JobRejection } from "../domain/job/decider.ts";
import type { JobEvent } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import type { Cause, EventLog, JobRef } from "../event-log/event-log.ts";
import type { AttachmentFile } from "../job-kinds/attachments-of-request.ts";
import type { JobDraft } from "./draft-job.ts";

type JobCreated = Extract<JobEvent, { type: "JobCreated" }>;

export type Accepted = {
  readonly outcome: "accepted";
  readonly created: JobCreated;
  /** The job was there before: the same request came again. */
  readonly isRepeat: boolean;
  readonly sequence: number;
};

export type Acceptance = Accepted | { readonly outcome: "rejected"; readonly rejection: JobRejection };

/** What of a draft is stored. */
type Stored = Pick<JobDraft, "job" | "content" | "settings"> & {
  readonly attachments: readonly Pick<AttachmentFile, "sha256" | "bytes">[];
};

/**
 * Stores the content, the attachments that it names, then the event that names its digest. A crash in between leaves
 * content that no event names; the same request again finds it and goes on, another one with the same key is refused.
 */
export async function acceptJob(
  log: EventLog,
  contentStore: ContentStore,
  { job, content, attachments, settings }: Stored,
  cause: Cause,
  at: Instant,
): Promise<Acceptance> {
  const isStored = await contentStore.put(job, content);
  const from = isStored ? newJob : await readJob(log, job);
  if (!isStored && from.state.status === "absent" && !(await isContent(contentStore, job, settings.contentSha256))) {
    return { outcome: "rejected", rejection: { code: "idempotency-key-reused" } };
  }
  if (from.state.status === "absent") {
    for (const { sha256, bytes } of attachments) await contentStore.attachments.put(job, sha256, bytes);
  }
  const outcome = await handleCommand(log, job, { type: "CreateJob", at, settings }, cause, { from });
  const isNew = outcome.outcome === "accepted" && outcome.events.length > 0;
  // There was no content, and the job is there: it was erased, and whoever asks again does not bring it back.
  if (isStored && !isNew) {
    await eraseAttachments(contentStore, job);
    await contentStore.erase(job);
  }
  if (outcome.outcome === "rejected") return outcome;
  const isRepeat = outcome.events.length === 0;
  const created = isJobCreated(outcome.events[0]) ? outcome.events[0] : await readCreation(log, job);
  return { outcome: "accepted", created, isRepeat, sequence: outcome.sequence };
}

/** The job, where an earlier request made it; else null. */
export async function findAccepted(log: EventLog, job: JobRef): Promise<Accepted | null> {
  const decisions = await log.readDecisions(job);
  const created = decisions[0]?.event;
  if (!isJobCreated(created)) return null;
  return { outcome: "accepted", created, isRepeat: true, sequence: decisions.at(-1)?.sequence ?? 0 };
}

async function isContent(contentStore: ContentStore, job: JobRef, sha256: string): Promise<boolean> {
  const stored = await contentStore.get(job);
  return stored !== null && digestOf(stored) === sha256;
}

const isJobCreated = (event: JobEvent | undefined): event is JobCreated => event?.type === "JobCreated";

async function readCreation(log: EventLog, job: JobRef): Promise<JobCreated> {
  const first = (await log.readDecisions(job))[0]?.event;
  if (!isJobCreated(first)) throw new Error(`The history of job ${job.jobId} does not begin with its creation.`);
  return first;
}
