import { defaultJobType, type JobType } from "../domain/job/events.ts";
import { nameWith, startOf, tokenOf } from "../nats/names.ts";
import { events, eventTypes } from "../schemas/events.ts";
import type { Channel, ChannelOfService, JobRef, NewEntry, WaybillEvent } from "./event-log.ts";

/** The parts of a subject of the log; the channel is null if it is one of a newer release. */
export type SubjectParts = JobRef & { readonly channel: Channel | null };

/** Whether the subject is about the service as a whole, and not about a job of a tenant. */
export const isOfService = (channel: string): channel is ChannelOfService =>
  channel === "alert" || channel === "seal" || channel === "pass" || channel === "archive" || channel === "throttle";

const channelsOfTenants: readonly string[] = ["facts", "feedback", "mailing", "schedule"] satisfies Channel[];

const isChannelOfTenant = (channel: string): channel is Channel => channelsOfTenants.includes(channel);

/** `jobs.<tenant>.<jobId>` for the decisions about a job; every other channel has one token more, or some. */
export const subjectOf = (prefix: string, job: JobRef, channel: Channel): string => {
  const ofDecisions = ofJob(prefix, "jobs", job);
  return channel === "job" ? ofDecisions : `${ofDecisions}.${channel}`;
};

export const contentSubjectOf = (prefix: string, job: JobRef): string => ofJob(prefix, "content", job);

/** The subject of a piece of the file that a run of a job made. */
export const resultSubjectOf = (prefix: string, job: JobRef, run: number, index: number): string =>
  `${ofJob(prefix, "results", job)}.${run}.${index}`;

/** Matches the decisions about every job, for a subscription: no consumer has such a filter. */
export const subjectsOfDecisions = (prefix: string): string => `${startOf(prefix)}jobs.*.*`;

/**
 * The streams of the log, the contents and recipients, the suppression lists, the turns that wait for a worker, the files
 * of reports, and the canary message that shows whether NATS stores anything.
 */
export const streamKinds = ["JOBS", "CONTENT", "SUPPRESSIONS", "TURNS", "RESULTS", "CANARY"] as const;

/**
 * The buckets of keys and tenants, of the tenants' usage, of webhook endpoints, of the progress of sealing, of listeners, of
 * what is archived, of templates, of throttled receivers, of addresses whose mails came back lately, and of reports that name no
 * mail.
 */
export const bucketKinds = [
  "ACCESS",
  "QUOTA",
  "WEBHOOKS",
  "ROUTES",
  "SEALS",
  "CHECKPOINTS",
  "ARCHIVE",
  "TEMPLATES",
  "THROTTLES",
  "SOFT_BOUNCES",
  "BOUNCES",
] as const;

export type StreamKind = (typeof streamKinds)[number];

/** `JOBS`, or `<prefix>_JOBS` where several Waybills share a NATS. */
export const streamName = (prefix: string, stream: StreamKind): string => nameWith(prefix, stream);

/** Matches everything that belongs in a stream. */
export const streamFilter = (prefix: string, stream: StreamKind): string =>
  `${startOf(prefix)}${stream.toLowerCase()}.>`;

/** Throws if the subject does not belong to the log with this prefix. */
export function parseSubject(prefix: string, subject: string): SubjectParts {
  const parts = partsOf(prefix, subject);
  if (parts !== null) return parts;
  const form = `${startOf(prefix)}jobs.<tenant>.<jobId>`;
  throw new Error(`${JSON.stringify(subject)} is not a subject of the log; expected ${form} or ${form}.<channel>`);
}

/** Null for a subject that does not belong to the log with this prefix. */
export function partsOf(prefix: string, subject: string): SubjectParts | null {
  const start = `${startOf(prefix)}jobs.`;
  const endOfTenant = subject.indexOf(".", start.length);
  if (!subject.startsWith(start) || endOfTenant < 0) return null;
  const tenant = subject.slice(start.length, endOfTenant);
  const endOfJob = subject.indexOf(".", endOfTenant + 1);
  if (endOfJob < 0) return { tenant, jobId: subject.slice(endOfTenant + 1), channel: "job" };
  const channel = subject.slice(endOfJob + 1);
  return {
    tenant,
    jobId: subject.slice(endOfTenant + 1, endOfJob),
    channel: isChannelOfTenant(channel) || isOfService(channel) ? channel : null,
  };
}

/** The suffix, after a separator, of names that belong to one kind of job; null for the default kind. */
export const suffixOfKind = (type: JobType): string | null => (type === defaultJobType ? null : type.replace(".", "-"));

/** The channel of an event. */
export const channelOf = (event: WaybillEvent): Channel => events[event.type].channel;

/** The subject of an entry: facts stand beside the decision that they belong to. */
export const channelOfEntry = (entry: NewEntry): Channel =>
  entry.some(({ event }) => channelOf(event) === "job") ? "job" : channelOf(entry[0].event);

/** The types of events that are about a job of a tenant, and not about the service as a whole. */
export const typesOfJobs = eventTypes.filter((type) => !isOfService(events[type].channel));

/** The subject of one address that is never mailed, by its digest; with `*` for the digest, every one of the tenant. */
export const suppressionSubjectOf = (prefix: string, tenant: string, digest: string): string =>
  `${startOf(prefix)}suppressions.${tokenOf(tenant, "tenant")}.${digest === "*" ? digest : tokenOf(digest, "digest")}`;

/** The subject of no entry, because those have one token more. */
export const suppressionSecretSubject = (prefix: string): string => `${startOf(prefix)}suppressions.secret`;

const ofJob = (prefix: string, first: "jobs" | "content" | "results", { tenant, jobId }: JobRef): string =>
  `${startOf(prefix)}${first}.${tokenOf(tenant, "tenant")}.${tokenOf(jobId, "job id")}`;

/** The job that a subject is about; null for one that does not belong to the log with this prefix. */
export const jobOfSubject =
  (prefix: string) =>
  (subject: string): JobRef | null => {
    const parts = partsOf(prefix, subject);
    return parts && { tenant: parts.tenant, jobId: parts.jobId };
  };
