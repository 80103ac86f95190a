import { handleCommand } from "../commands/handle-command.ts";
import { newJob, readJob } from "../commands/read-version.ts";
import type { AttachmentFile, ContentStore } from "../content/content-store.ts";
import { digestOf } from "../content/encode-content.ts";
import { eraseContent } from "../content/stored-content.ts";
import { isContentErased } from "../domain/job/erase-content.ts";
import type { JobEvent, TemplateUse } from "../domain/job/events.ts";
import type { JobRejection, JobState } from "../domain/job/state.ts";
import type { Instant } from "../domain/message.ts";
import type { Cause, EventLog, JobRef } from "../event-log/event-log.ts";
import { jobIdInsteadOf } from "./derived-job-id.ts";
import type { JobDraft } from "./draft-job.ts";

type JobCreated = Extract<JobEvent, { type: "JobCreated" }>;

export type Accepted = {
  readonly outcome: "accepted";
  /** The job of the draft, or, where that one was abandoned, the job that replaces it. */
  readonly job: JobRef;
  readonly created: JobCreated;
  /** The job existed before: the same request was repeated. */
  readonly isRepeat: boolean;
  readonly sequence: number;
};

export type Acceptance = Accepted | { readonly outcome: "rejected"; readonly rejection: JobRejection };

/** The sweeper erased the content before the job was created, as no request continued with it: no job gets this id. */
export type Abandoned = { readonly outcome: "abandoned" };

/** The part of a draft that is stored beside the log. */
type StoredContent = Pick<JobDraft, "job" | "content"> & {
  readonly settings: Pick<JobDraft["settings"], "contentSha256">;
  readonly attachments: readonly Pick<AttachmentFile, "sha256" | "bytes">[];
};

type Stored = StoredContent & Pick<JobDraft, "settings">;

/** Creates the job of a draft, under another id where its own was abandoned. */
export async function acceptJob(
  log: EventLog,
  contentStore: ContentStore,
  draft: Stored,
  cause: Cause,
  at: Instant,
): Promise<Acceptance> {
  for (let { job } = draft; ; job = { ...job, jobId: jobIdInsteadOf(job) }) {
    const acceptance = await acceptJobAs(log, contentStore, { ...draft, job }, cause, at);
    if (acceptance.outcome !== "abandoned") return acceptance;
  }
}

/**
 * Stores the content, then the attachments that it names, then the event that names its digest. Another process may do the
 * same for the same job at this moment, or may have paused for long in the middle of it. So the stored content belongs to
 * no request, and it is erased only when the history of the job says so. A crash in between leaves content that no event
 * names: the same request continues with it, another request with the same key is refused, and in the end the sweeper
 * erases it.
 */
export async function acceptJobAs(
  log: EventLog,
  contentStore: ContentStore,
  draft: Stored,
  cause: Cause,
  at: Instant,
): Promise<Acceptance | Abandoned> {
  const { job, settings } = draft;
  // No other process knows an id that was made a moment ago. For any other id the log is asked first: a request that is
  // repeated long after its job was erased stores nothing.
  let from = settings.requestSha256 === null ? newJob : await readJob(log, job);
  while (isFree(from.state)) {
    const found = await storeContent(contentStore, draft);
    if (found === "stored") break;
    from = await readJob(log, job);
    if (found === "other" && isFree(from.state)) {
      return { outcome: "rejected", rejection: { code: "idempotency-key-reused" } };
    }
  }
  const outcome = await handleCommand(log, job, { type: "CreateJob", at, settings }, cause, { from });
  const isNew = outcome.outcome === "accepted" && outcome.events.length > 0;
  if (!isNew && isFree(from.state)) await eraseIfOver(log, contentStore, draft);
  if (outcome.outcome === "rejected") {
    return outcome.rejection.code === "job-not-found" ? { outcome: "abandoned" } : outcome;
  }
  const created = isJobCreated(outcome.events[0]) ? outcome.events[0] : await readCreation(log, job);
  return { outcome: "accepted", job, created, isRepeat: !isNew, sequence: outcome.sequence };
}

/** The job, where an earlier request created it; else null. */
export async function findAccepted(log: EventLog, first: JobRef): Promise<Accepted | null> {
  for (let job = first; ; job = { ...job, jobId: jobIdInsteadOf(job) }) {
    const found = await findAcceptedAs(log, job);
    if (found?.outcome !== "abandoned") return found;
  }
}

/** The outcome for the job of exactly this id; null where the log has no decision about it. */
export async function findAcceptedAs(log: EventLog, job: JobRef): Promise<Accepted | Abandoned | null> {
  const decisions = await log.readDecisions(job);
  const [first, last] = [decisions[0], decisions.at(-1)];
  if (first === undefined || last === undefined) return null;
  const { event: created } = first;
  if (!isJobCreated(created)) return { outcome: "abandoned" };
  return { outcome: "accepted", job, created, isRepeat: true, sequence: last.sequence };
}

const isFree = (state: JobState): boolean => state.status === "absent" && !state.isAbandoned;

/** `other` where other content is stored, `gone` where the stored content was erased meanwhile: the history says why. */
export async function storeContent(
  contentStore: ContentStore,
  { job, content, settings, attachments }: StoredContent,
): Promise<"stored" | "other" | "gone"> {
  if (!(await contentStore.put(job, content))) {
    const there = await contentStore.get(job);
    if (there === null) return "gone";
    if (digestOf(there) !== settings.contentSha256) return "other";
  }
  for (const { sha256, bytes } of attachments) await contentStore.attachments.put(job, sha256, bytes);
  return "stored";
}

/** Erases content that came too late: everything stored for the job was to be erased before. */
async function eraseIfOver(log: EventLog, contentStore: ContentStore, { job, attachments }: Stored): Promise<void> {
  const { state } = await readJob(log, job);
  if (!isContentErased(state)) return;
  for (const { sha256 } of attachments) await contentStore.attachments.erase(job, sha256);
  await eraseContent(contentStore, job);
}

const isJobCreated = (event: JobEvent | undefined): event is JobCreated => event?.type === "JobCreated";

async function readCreation(log: EventLog, job: JobRef): Promise<JobCreated> {
  const first = (await log.readDecisions(job))[0]?.event;
  if (!isJobCreated(first)) throw new Error(`The history of job ${job.jobId} does not begin with its creation.`);
  return first;
}

export type CreatedJob = {
  readonly jobId: string;
  readonly status: "pending" | "scheduled";
  readonly createdAt: Instant;
  /** For a request that named a template: the version that was the latest then, or the one that it named. */
  readonly template?: TemplateUse;
};

/** The answer to the request for a job: the same on every repetition, whatever has happened to the job since. */
export const toCreatedJob = (jobId: string, { at, data }: JobCreated): CreatedJob => ({
  jobId,
  status: data.scheduledAt === null ? "pending" : "scheduled",
  createdAt: at,
  ...(data.template === undefined ? {} : { template: data.template }),
});
