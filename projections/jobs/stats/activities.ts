import type { JobView } from "../../../src/domain/job/job-view.ts";
import { feedbackBit } from "../../../src/domain/recipients/feedback.ts";
import type { StoredEvent } from "../../../src/event-log/event-log.ts";

export const activities = [
  "jobs_created",
  "jobs_completed",
  "jobs_failed",
  "jobs_cancelled",
  "mails_sent",
  "mails_failed",
  "mails_unknown",
  "mails_suppressed",
  "mails_bounced",
  "mails_complained",
] as const;
export type Activity = (typeof activities)[number];

export type MinuteRow = { readonly tenant: string; readonly minute: Date } & Readonly<Record<Activity, number>>;

/** What happened in each minute, by tenant and minute: to be added to the stored counts. */
export type Activities = Map<string, { -readonly [Column in keyof MinuteRow]: MinuteRow[Column] }>;

const minuteMs = 60_000;

/** Notes the effect of a decision on the status of its job; `before` is null for a job that begins. */
export function noteDecision(noted: Activities, stored: StoredEvent, before: JobView | null, after: JobView): void {
  if (before === null) note(noted, stored, "jobs_created");
  if (before?.status === after.status) return;
  if (after.status === "completed") note(noted, stored, "jobs_completed");
  if (after.status === "failed") note(noted, stored, "jobs_failed");
  if (after.status === "cancelled") note(noted, stored, "jobs_cancelled");
}

/** Notes an outcome that counts. */
export function noteMail(noted: Activities, stored: StoredEvent): void {
  const { type } = stored.event;
  if (type === "RecipientSent") note(noted, stored, "mails_sent");
  if (type === "RecipientFailed") note(noted, stored, "mails_failed");
  if (type === "RecipientUnknown") note(noted, stored, "mails_unknown");
  if (type === "RecipientSuppressed") note(noted, stored, "mails_suppressed");
}

/** Counts a report about a recipient, once of each kind; `before` and `after` are what was known, as feedbackBit. */
export function countReport(noted: Activities, stored: StoredEvent, before: number, after: number): void {
  const news = after & ~before;
  if (news & feedbackBit.bounced) note(noted, stored, "mails_bounced");
  if (news & feedbackBit.complained) note(noted, stored, "mails_complained");
}

function note(noted: Activities, { tenant, event }: StoredEvent, activity: Activity): void {
  // An instant begins with its minute: yyyy-mm-ddThh:mm.
  const key = `${event.at.slice(0, 16)} ${tenant}`;
  const known = noted.get(key);
  if (known !== undefined) known[activity] += 1;
  else {
    const minute = new Date(Math.floor(Date.parse(event.at) / minuteMs) * minuteMs);
    noted.set(key, { tenant, minute, ...nothing, [activity]: 1 });
  }
}

const nothing: Readonly<Record<Activity, number>> = {
  jobs_created: 0,
  jobs_completed: 0,
  jobs_failed: 0,
  jobs_cancelled: 0,
  mails_sent: 0,
  mails_failed: 0,
  mails_unknown: 0,
  mails_suppressed: 0,
  mails_bounced: 0,
  mails_complained: 0,
};
