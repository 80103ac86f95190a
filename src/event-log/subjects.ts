import type { JobQueued, Priority } from "../domain/job/events.ts";
import type { Channel, JobRef, Lane, WaybillEvent } from "./event-log.ts";

/** What a subject of the log says; the channel is null where a newer release made one that this one does not know. */
export type SubjectParts = JobRef & { readonly channel: Channel | null };

/** A tenant, a job id and a prefix are each one token of a subject: no dots, wildcards, spaces, nor anything to escape. */
const token = /^[A-Za-z0-9_-]+$/;

const priorities: readonly Priority[] = ["high", "normal", "low"];
/** In the order in which they are served. */
export const lanes: readonly Lane[] = priorities.flatMap((priority) => [
  `queue.${priority}` as const,
  `queue.${priority}.crowd` as const,
]);
export const allChannels: readonly Channel[] = ["job", ...lanes, "recipients", "notify"];
const channels = new Map<string, Channel>(allChannels.map((channel) => [channel, channel]));

export const subjectOf = (prefix: string, job: JobRef, channel: Channel): string =>
  `${ofJob(prefix, "jobs", job)}.${channel}`;

export const contentSubjectOf = (prefix: string, job: JobRef): string => ofJob(prefix, "content", job);

/** Matches one channel of every job. */
export const channelFilter = (prefix: string, channel: Channel): string => `${startOf(prefix)}jobs.*.*.${channel}`;

/** The log, what is sent and to whom, and the one message that shows whether NATS stores anything. */
type StreamKind = "JOBS" | "CONTENT" | "CANARY";

/** `JOBS`, or `<prefix>_JOBS` where several Waybills share a NATS. */
export const streamName = (prefix: string, stream: StreamKind): string =>
  prefix === "" ? stream : `${tokenOf(prefix, "prefix")}_${stream}`;

/** Matches everything that belongs into a stream. */
export const streamFilter = (prefix: string, stream: StreamKind): string =>
  `${startOf(prefix)}${stream.toLowerCase()}.>`;

/** Throws where the subject is none of the log with this prefix. */
export function parseSubject(prefix: string, subject: string): SubjectParts {
  const start = prefix === "" ? "jobs." : `${prefix}.jobs.`;
  const endOfTenant = subject.indexOf(".", start.length);
  const endOfJob = subject.indexOf(".", endOfTenant + 1);
  if (!subject.startsWith(start) || endOfTenant < 0 || endOfJob < 0) {
    throw new Error(`${JSON.stringify(subject)} is no subject of the log; expected ${start}<tenant>.<jobId>.<channel>`);
  }
  return {
    tenant: subject.slice(start.length, endOfTenant),
    jobId: subject.slice(endOfTenant + 1, endOfJob),
    channel: channels.get(subject.slice(endOfJob + 1)) ?? null,
  };
}

export const laneOf = ({ priority, isCrowded }: Pick<JobQueued["data"], "priority" | "isCrowded">): Lane =>
  isCrowded ? `queue.${priority}.crowd` : `queue.${priority}`;

/** Matches every lane of every job. */
export const lanesFilter = (prefix: string): string => `${startOf(prefix)}jobs.*.*.queue.>`;

/** Where an event belongs. */
export function channelOf(event: WaybillEvent): Channel {
  switch (event.type) {
    case "JobQueued":
      return laneOf(event.data);
    case "RecipientsClaimed":
    case "RecipientsReleased":
    case "RecipientSent":
    case "RecipientDeferred":
    case "RecipientFailed":
    case "RecipientUnknown":
      return "recipients";
    case "WebhookDelivered":
    case "WebhookFailed":
    case "WebhookRedeliveryRequested":
      return "notify";
    case "JobCreated":
    case "JobStarted":
    case "JobRetryScheduled":
    case "JobPaused":
    case "JobResumed":
    case "JobRescheduled":
    case "JobCompleted":
    case "JobFailed":
    case "JobCancelled":
    case "JobRetried":
    case "JobRequeued":
    case "DeadLetterIgnored":
      return "job";
  }
}

const startOf = (prefix: string): string => (prefix === "" ? "" : `${tokenOf(prefix, "prefix")}.`);

const ofJob = (prefix: string, first: "jobs" | "content", { tenant, jobId }: JobRef): string =>
  `${startOf(prefix)}${first}.${tokenOf(tenant, "tenant")}.${tokenOf(jobId, "job id")}`;

function tokenOf(value: string, what: string): string {
  if (token.test(value)) return value;
  throw new Error(`The ${what} is ${JSON.stringify(value)}; expected letters, digits, _ and - only`);
}
