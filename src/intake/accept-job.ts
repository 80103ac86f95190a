import { handleCommand, newJob, readJob } from "../commands/handle-command.ts";
import type { AttachmentFile, ContentStore } from "../content/content-store.ts";
import { digestOf } from "../content/encode-content.ts";
import { eraseContent } from "../content/stored-content.ts";
import { isContentErased } from "../domain/job/erase-content.ts";
import type { JobEvent } from "../domain/job/events.ts";
import type { JobRejection, JobState } from "../domain/job/state.ts";
import type { Instant } from "../domain/message.ts";
import type { Cause, EventLog, JobRef } from "../event-log/event-log.ts";
import { jobIdInsteadOf } from "./derived-job-id.ts";
import type { JobDraft } from "./draft-job.ts";

type JobCreated = Extract<JobEvent, { type: "JobCreated" }>;

export type Accepted = {
  readonly outcome: "accepted";
  /** Of the draft, or where that one was abandoned, the one that stands for it. */
  readonly job: JobRef;
  readonly created: JobCreated;
  /** The job was there before: the same request came again. */
  readonly isRepeat: boolean;
  readonly sequence: number;
};

export type Acceptance = Accepted | { readonly outcome: "rejected"; readonly rejection: JobRejection };

/** Its content was erased before the job was created, as nobody seemed to go on with it: no job gets this id. */
export type Abandoned = { readonly outcome: "abandoned" };

/** What of a draft is stored. */
type Stored = Pick<JobDraft, "job" | "content" | "settings"> & {
  readonly attachments: readonly Pick<AttachmentFile, "sha256" | "bytes">[];
};

/** Makes the job of a draft, under another id where its own was abandoned. */
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
 * Stores the content, the attachments that it names, then the event that names its digest. Others may do the same for the
 * same job at this moment, or may have stood still for long in the middle of it. So what is stored belongs to none of
 * them, and only what the history of the job says is erased: a crash in between leaves content that no event names, with
 * which the same request goes on, another one with the same key is refused, and the sweeper does away in the end.
 */
export async function acceptJobAs(
  log: EventLog,
  contentStore: ContentStore,
  draft: Stored,
  cause: Cause,
  at: Instant,
): Promise<Acceptance | Abandoned> {
  const { job, settings } = draft;
  // An id that was made a moment ago is new to everybody. For any other the log is asked first: a request that comes
  // again long after its job was erased stores nothing.
  let from = settings.requestSha256 === null ? newJob : await readJob(log, job);
  while (isFree(from.state)) {
    const found = await store(contentStore, draft);
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

/** The job, where an earlier request made it; else null. */
export async function findAccepted(log: EventLog, first: JobRef): Promise<Accepted | null> {
  for (let job = first; ; job = { ...job, jobId: jobIdInsteadOf(job) }) {
    const found = await findAcceptedAs(log, job);
    if (found?.outcome !== "abandoned") return found;
  }
}

/** What became of the job of this very id; null where nobody has decided anything about it. */
export async function findAcceptedAs(log: EventLog, job: JobRef): Promise<Accepted | Abandoned | null> {
  const decisions = await log.readDecisions(job);
  const [first, last] = [decisions[0], decisions.at(-1)];
  if (first === undefined || last === undefined) return null;
  const { event: created } = first;
  if (!isJobCreated(created)) return { outcome: "abandoned" };
  return { outcome: "accepted", job, created, isRepeat: true, sequence: last.sequence };
}

const isFree = (state: JobState): boolean => state.status === "absent" && !state.isAbandoned;

/** `other` where there is other content, `gone` where what was there has been erased meanwhile: the history says why. */
async function store(
  contentStore: ContentStore,
  { job, content, settings, attachments }: Stored,
): Promise<"stored" | "other" | "gone"> {
  if (!(await contentStore.put(job, content))) {
    const there = await contentStore.get(job);
    if (there === null) return "gone";
    if (digestOf(there) !== settings.contentSha256) return "other";
  }
  for (const { sha256, bytes } of attachments) await contentStore.attachments.put(job, sha256, bytes);
  return "stored";
}

/** What came too late is not left there: all that was stored for the job was to be erased before. */
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
};

/** What whoever asked for a job is told: the same on every repetition, whatever became of the job meanwhile. */
export const toCreatedJob = (jobId: string, { at, data }: JobCreated): CreatedJob => ({
  jobId,
  status: data.scheduledAt === null ? "pending" : "scheduled",
  createdAt: at,
});
