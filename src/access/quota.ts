import { hash } from "node:crypto";
import type { Instant } from "../domain/message.ts";
import type { JobRef } from "../event-log/event-log.ts";

export type QuotaRequest = {
  readonly job: JobRef;
  readonly recipients: number;
  /** How many recipients the tenant may have in one day. */
  readonly perDay: number;
  readonly at: Instant;
};

export type QuotaAnswer =
  | { readonly granted: true }
  | { readonly granted: false; readonly left: number; readonly resetsAt: Instant };

/**
 * Counts the recipients of each tenant and day (UTC), over all processes and their restarts, before a job is accepted.
 * A repeated job of as many recipients counts once. A job that was counted and then not accepted, because the process died
 * or the log did not answer, stays counted: a tenant never gets more than its quota. Throws Unavailable.
 */
export interface Quota {
  take(request: QuotaRequest): Promise<QuotaAnswer>;
}

/** The count of one tenant and day. */
export type DayCount = {
  readonly used: number;
  /** Marks of the jobs that were counted last, to recognise a repeated one. */
  readonly recent: readonly string[];
};

export const emptyDay: DayCount = { used: 0, recent: [] };

/**
 * While the log elects a leader, jobs are counted that it does not take, and all of them come again: more than a tenant's
 * clients and rows of the outbox are at that time, and few enough to store with each count, which then takes 7 kB.
 */
const remembered = 500;

export type Counted = {
  readonly answer: QuotaAnswer;
  /** What to store; null if nothing has changed. */
  readonly count: DayCount | null;
};

export function countIn(day: DayCount, { job, recipients, perDay, at }: QuotaRequest): Counted {
  // Two requests with one idempotency key ask for the same job, and either may become it: it is repeated if it is as large.
  const counted = markOf(job, recipients);
  if (day.recent.includes(counted)) return { answer: { granted: true }, count: null };
  const left = Math.max(0, perDay - day.used);
  if (recipients > left) return { answer: { granted: false, left, resetsAt: dayAfter(at) }, count: null };
  const recent = [...day.recent, counted].slice(-remembered);
  return { answer: { granted: true }, count: { used: day.used + recipients, recent } };
}

/** So much of a digest that no two of those remembered are the same by chance. */
const markLength = 11;

const markOf = ({ jobId }: JobRef, recipients: number): string =>
  hash("sha256", `${jobId}/${recipients}`, "base64url").slice(0, markLength);

/** `2026-11-21`. */
export const dayOf = (at: Instant): string => at.slice(0, 10);

const dayMs = 86_400_000;

const dayAfter = (at: Instant): Instant => new Date(Date.parse(`${dayOf(at)}T00:00:00.000Z`) + dayMs).toISOString();
