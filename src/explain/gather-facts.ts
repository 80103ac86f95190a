import { stateAfter } from "../domain/job/decider.ts";
import { type Priority, priorities } from "../domain/job/events.ts";
import { foldJobView, type JobStatus } from "../domain/job/job-view.ts";
import { hasMailingEnded } from "../domain/mailing/state.ts";
import type { Instant } from "../domain/message.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";
import type { Membership } from "../workers/membership.ts";
import { dueSince, type ExplainedJob, explainJob, type GroupOrder, type JobsAhead } from "./explain-job.ts";
import { type ExplainedMailing, explainMailing, mailingAfterDecisions, type OpenParts } from "./explain-mailing.ts";
import { type MailSources, readMailOfJob } from "./mail-of-job.ts";
import type { Asked } from "./reason.ts";

/** A waiting job, as far as its place among others goes. */
export type WaitingJob = { readonly type: string; readonly priority: Priority };

/** Where the facts come from. What one of them does not answer is said to be not known. */
export type ExplainPorts = {
  readonly log: Pick<EventLog, "readDecisions" | "readMailing" | "readRecipients">;
  readonly workers: Membership["call"];
  /** The order of the group that a job belongs to, as the read model has it. */
  readonly group: (job: JobRef, groupSha256: string) => Promise<GroupOrder>;
  /** The tenant's queued jobs that were created before, as the read model has them; not all where there are many. */
  readonly queuedBefore: (
    tenant: string,
    createdAt: Instant,
  ) => Promise<{ readonly jobs: readonly WaitingJob[]; readonly isAll: boolean }>;
  /** How many parts of a mailing are jobs that have not ended, as the read model has them. */
  readonly openParts: (mailing: JobRef) => Promise<OpenParts>;
  readonly mail: Omit<MailSources, "log">;
  readonly now: () => Instant;
  /** Told of what could not be asked. */
  readonly report: (failure: unknown) => void;
};

const mayWaitForWorkers: readonly JobStatus[] = ["pending", "queued", "processing", "retrying"];
const mayWaitForMail: readonly JobStatus[] = ["queued", "processing", "retrying"];

/** The job by the log, and why it is there. Null if the log has no such job; throws Unavailable if the log is away. */
export async function explainJobNow(ports: ExplainPorts, job: JobRef): Promise<ExplainedJob | null> {
  const decisions = await ports.log.readDecisions(job);
  const view = foldJobView(decisions.map(({ event }) => event));
  if (view === null || stateAfter(decisions.map(({ event }) => event)).status === "absent") return null;
  const { status, settings, createdAt } = view;
  const { groupSha256 } = settings;
  const now = ports.now();
  const isDue = dueSince(view, now) !== null;
  // The place of a job that was resumed, rescheduled or retried does not follow from when it was created.
  const [workers, group, ahead] = await Promise.all([
    mayWaitForWorkers.includes(status) || isDue ? ask(ports, ports.workers) : null,
    (status === "pending" || (status === "scheduled" && isDue)) && groupSha256 !== null
      ? ask(ports, () => ports.group(job, groupSha256))
      : null,
    status === "queued" && decisions.length === 1
      ? ask(ports, () => jobsAhead(ports, job.tenant, createdAt, settings))
      : null,
  ]);
  const live = workers?.known ? workers.fact : [];
  const asked = { job, settings, decisions };
  const sources = { ...ports.mail, log: ports.log };
  const mail =
    mayWaitForMail.includes(status) || isDue
      ? await ask(ports, () => readMailOfJob(sources, asked, live, Date.parse(now)))
      : null;
  return explainJob({ jobId: job.jobId, now, decisions, workers, group, ahead, mail });
}

/** The same for a mailing. */
export async function explainMailingNow(
  ports: Omit<ExplainPorts, "mail">,
  mailing: JobRef,
  now: Instant,
): Promise<ExplainedMailing | null> {
  const decisions = await ports.log.readMailing(mailing);
  const state = mailingAfterDecisions(decisions);
  const isOpen = state.status !== "absent" && state.status !== "draft" && !hasMailingEnded(state);
  const [parts, workers] = isOpen
    ? await Promise.all([ask(ports, () => ports.openParts(mailing)), ask(ports, ports.workers)])
    : [null, null];
  return explainMailing({ decisions, now, parts, workers });
}

async function jobsAhead(
  { queuedBefore }: ExplainPorts,
  tenant: string,
  createdAt: Instant,
  { type, priority }: WaitingJob,
): Promise<JobsAhead> {
  const { jobs, isAll } = await queuedBefore(tenant, createdAt);
  const mayGoFirst = (other: WaitingJob): boolean =>
    other.type === type && priorities.indexOf(other.priority) <= priorities.indexOf(priority);
  return { count: jobs.filter(mayGoFirst).length, isAll };
}

/** Whatever the failure, the other facts are worth an answer. */
async function ask<Fact>(
  { report }: Pick<ExplainPorts, "report">,
  question: () => Promise<Fact>,
): Promise<Asked<Fact>> {
  try {
    return { known: true, fact: await question() };
  } catch (failure) {
    report(failure);
    return { known: false };
  }
}
