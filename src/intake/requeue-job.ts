import { handleCommand } from "../commands/handle-command.ts";
import { type JobVersion, readJob } from "../commands/read-version.ts";
import type { ContentStore, JobContent } from "../content/content-store.ts";
import { decodeContent, digestOf, encodeContent } from "../content/encode-content.ts";
import type { JobCommand } from "../domain/job/commands.ts";
import { jobDecider } from "../domain/job/decider.ts";
import type { JobSettings } from "../domain/job/events.ts";
import { foldJobView } from "../domain/job/job-view.ts";
import type { JobState } from "../domain/job/state.ts";
import type { Instant } from "../domain/message.ts";
import { recipientsToTakeUp } from "../domain/recipients/ledger.ts";
import type { Cause, EventLog, JobRef, RunRef } from "../event-log/event-log.ts";
import { type Abandoned, type Acceptance, acceptJobAs, findAcceptedAs } from "./accept-job.ts";
import { jobIdInsteadOf, jobIdOfRequeue } from "./derived-job-id.ts";

type Requeue = RunRef & {
  readonly reason: string | null;
  readonly cause: Cause;
  readonly at: Instant;
  /** The job as the caller read it a moment ago, to save a read. */
  readonly from?: JobVersion;
};

/** Why there is nothing left for a new job to send. */
type NothingToSend = "nobody-left" | "content-erased";

export type Requeueing = Acceptance | { readonly outcome: "impossible"; readonly why: NothingToSend };

/**
 * Decides about the old job first, and creates the new job afterwards. In the other order, a crash in between would leave
 * two jobs that may both mail the same people. In this order it leaves a decision without its job, and the client got no
 * answer; the same request again finds the decision and creates the job. It is the same job, as its id derives from the
 * old job and the run. Where that job was abandoned before it was created, another one is decided on in its place.
 */
export async function requeueJob(log: EventLog, contentStore: ContentStore, requeue: Requeue): Promise<Requeueing> {
  const { job, run } = requeue;
  let insteadOf: string | null = null;
  let before = requeue.from;
  for (let asJob: JobRef = { ...job, jobId: jobIdOfRequeue(job, run) }; ; ) {
    before ??= await readJob(log, job);
    const requeueing = await requeueAs(log, contentStore, { ...requeue, before }, asJob, insteadOf);
    if (requeueing.outcome !== "abandoned") return requeueing;
    before = undefined;
    insteadOf = asJob.jobId;
    asJob = { ...asJob, jobId: jobIdInsteadOf(asJob) };
  }
}

async function requeueAs(
  log: EventLog,
  contentStore: ContentStore,
  { job, run, reason, cause, at, before }: Requeue & { readonly before: JobVersion },
  asJob: JobRef,
  insteadOf: string | null,
): Promise<Requeueing | Abandoned> {
  const command: JobCommand = { type: "RequeueDeadLetter", at, run, asJobId: asJob.jobId, insteadOf, reason };
  const decision = jobDecider.decide(command, before.state);
  if (decision.outcome === "rejected") return decision;
  const made = await findAcceptedAs(log, asJob);
  if (made !== null) return made;
  if (decision.events.length > 0) {
    const rest = await contentOfRest(log, contentStore, job);
    if (typeof rest === "string") return { outcome: "impossible", why: rest };
  }
  const decided = await handleCommand(log, job, command, cause, { from: before });
  if (decided.outcome === "rejected") return decided;
  const content = await contentOfNewJob(log, contentStore, job, asJob);
  // Another process may have created the job meanwhile, or may have erased what was stored for it.
  const othersMade = typeof content === "string" ? await findAcceptedAs(log, asJob) : null;
  if (othersMade !== null) return othersMade;
  if (typeof content === "string") return { outcome: "impossible", why: content };
  const settings = toSettings(decided.state, job, content);
  const causationId = await requeueIdOf(log, job);
  const attachments = await attachmentsOfOldJob(contentStore, job, content);
  if (attachments === null) return { outcome: "impossible", why: "content-erased" };
  const draft = { job: asJob, content, attachments, settings };
  return await acceptJobAs(log, contentStore, draft, { ...cause, causationId }, at);
}

/** The content that an earlier request stored stands: the outcome of a mail that was on its way may have arrived since. */
async function contentOfNewJob(
  log: EventLog,
  contentStore: ContentStore,
  job: JobRef,
  asJob: JobRef,
): Promise<Uint8Array | NothingToSend> {
  const stored = await contentStore.get(asJob);
  if (stored !== null) return stored;
  const rest = await contentOfRest(log, contentStore, job);
  if (typeof rest === "string") return rest;
  const content = encodeContent(rest);
  return (await contentStore.put(asJob, content)) ? content : ((await contentStore.get(asJob)) ?? "content-erased");
}

/** Each job has attachments of its own: those of the old job may be erased before the new job is done. */
async function attachmentsOfOldJob(contentStore: ContentStore, job: JobRef, content: Uint8Array) {
  const attachments: { readonly sha256: string; readonly bytes: Buffer }[] = [];
  for (const { sha256 } of decodeContent(content).attachments ?? []) {
    const bytes = await contentStore.attachments.get(job, sha256);
    if (bytes === null) return null;
    attachments.push({ sha256, bytes });
  }
  return attachments;
}

/** The content of the job with only those recipients that another job may mail. */
async function contentOfRest(
  log: EventLog,
  contentStore: ContentStore,
  job: JobRef,
): Promise<JobContent | NothingToSend> {
  const view = foldJobView((await log.readHistory(job)).map(({ event }) => event));
  if (view === null) throw new Error(`Job ${job.jobId} has no history.`);
  const left = new Set(recipientsToTakeUp(view.ledger, view.settings.onUnknown));
  // A job of a kind without recipients runs again as a whole.
  if (left.size === 0 && view.settings.total > 0) return "nobody-left";
  const stored = await contentStore.get(job);
  if (stored === null) return "content-erased";
  // The new job is no part of a mailing: see toSettings.
  const { mailingId: _, ...content } = decodeContent(stored);
  const rest = content.recipients.filter((one, recipient) => one !== null && left.has(recipient));
  // All recipients that were left have been erased.
  if (rest.length === 0 && view.settings.total > 0) return "content-erased";
  return { ...content, recipients: rest };
}

/** The settings of the old job without its times: the new job is to run now. */
function toSettings(state: JobState, job: JobRef, content: Uint8Array): JobSettings {
  if (state.status === "absent") throw new Error(`Job ${job.jobId} has no history.`);
  // What a mailing counts of its part stays with the part.
  const { mailingId: _, ...settings } = state.settings;
  return {
    ...settings,
    total: decodeContent(content).recipients.length,
    duplicates: 0,
    contentSha256: digestOf(content),
    requestSha256: null,
    scheduledAt: null,
    notAfter: null,
    requeueOf: job.jobId,
  };
}

async function requeueIdOf(log: EventLog, job: JobRef): Promise<string | null> {
  const decisions = await log.readDecisions(job);
  return decisions.findLast(({ event }) => event.type === "JobRequeued")?.id ?? null;
}
