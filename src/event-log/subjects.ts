import type { Priority } from "../domain/job/events.ts";
import type { Channel, JobRef, WaybillEvent } from "./event-log.ts";

/** What a subject of the log says; the channel is null where a newer release made one that this one does not know. */
export type SubjectParts = JobRef & { readonly channel: Channel | null };

/** A tenant, a job id and a prefix are each one token of a subject: no dots, wildcards, spaces, nor anything to escape. */
const token = /^[A-Za-z0-9_-]+$/;

const priorities: readonly Priority[] = ["high", "normal", "low"];
const channels = new Map<string, Channel>(
  (["job", "recipients", ...priorities.map((priority) => `queue.${priority}` as const)] as const).map((channel) => [
    channel,
    channel,
  ]),
);

export const subjectOf = (prefix: string, job: JobRef, channel: Channel): string =>
  `${ofJob(prefix, "jobs", job)}.${channel}`;

export const contentSubjectOf = (prefix: string, job: JobRef): string => ofJob(prefix, "content", job);

/** Matches one channel of every job. */
export const channelFilter = (prefix: string, channel: Channel): string => `${startOf(prefix)}jobs.*.*.${channel}`;

/** `JOBS`, or `<prefix>_JOBS` where several Waybills share a NATS. */
export const streamName = (prefix: string, stream: "JOBS" | "CONTENT"): string =>
  prefix === "" ? stream : `${tokenOf(prefix, "prefix")}_${stream}`;

/** Matches everything that belongs into a stream. */
export const streamFilter = (prefix: string, stream: "JOBS" | "CONTENT"): string =>
  `${startOf(prefix)}${stream.toLowerCase()}.>`;

/** Throws where the subject is none of the log with this prefix. */
export function parseSubject(prefix: string, subject: string): SubjectParts {
  const start = `${startOf(prefix)}jobs.`;
  const [tenant, jobId, ...rest] = subject.startsWith(start) ? subject.slice(start.length).split(".") : [];
  if (tenant === undefined || jobId === undefined || rest.length === 0) {
    throw new Error(`${JSON.stringify(subject)} is no subject of the log; expected ${start}<tenant>.<jobId>.<channel>`);
  }
  return { tenant, jobId, channel: channels.get(rest.join(".")) ?? null };
}

/** Where an event belongs. */
export function channelOf(event: WaybillEvent): Channel {
  switch (event.type) {
    case "JobQueued":
      return `queue.${event.data.priority}`;
    case "RecipientsClaimed":
    case "RecipientsReleased":
    case "RecipientSent":
    case "RecipientDeferred":
    case "RecipientFailed":
    case "RecipientUnknown":
      return "recipients";
    case "JobCreated":
    case "JobStarted":
    case "JobRetryScheduled":
    case "JobPaused":
    case "JobResumed":
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
