import type { Quota } from "../access/quota.ts";
import type { ContentStore } from "../content/content-store.ts";
import type { Instant } from "../domain/message.ts";
import type { CallerLimits } from "../domain/tenant.ts";
import type { Cause, EventLog } from "../event-log/event-log.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import { type Accepted, acceptJob, findAccepted } from "./accept-job.ts";
import type { Refusal } from "./check-request.ts";
import type { JobDraft } from "./draft-job.ts";

export type CreationDependencies = {
  readonly log: EventLog;
  readonly room: LogRoom;
  readonly quota: Quota;
  readonly contentStore: ContentStore;
};

/** The caller that asks for the job, and the time. */
export type Order = {
  readonly limits: Pick<CallerLimits, "dailyRecipients">;
  readonly cause: Cause;
  readonly at: Instant;
};

export type Creation = Accepted | { readonly outcome: "refused"; readonly refusal: Refusal };

/**
 * Creates the job of a checked draft, exactly once for a draft that can be repeated, however often it is requested. Throws
 * Unavailable and LogFull: the job may have been created all the same.
 */
export async function createJob(
  { log, room, quota, contentStore }: CreationDependencies,
  draft: JobDraft,
  { limits, cause, at }: Order,
): Promise<Creation> {
  const { job, settings } = draft;
  // A repetition needs no room and no quota: it gets the first answer, and was counted then, even on another day.
  const isRepeat = async () => settings.requestSha256 !== null && (await findAccepted(log, job)) !== null;
  if (!(await room.isLeftForJobs(settings.total)) && !(await isRepeat())) return refused({ code: "event-log-full" });
  const { dailyRecipients: limit } = limits;
  if (limit !== null && !(await isRepeat())) {
    const recipients = settings.total;
    const answer = await quota.take({ job, recipients, perDay: limit, at });
    if (!answer.granted) {
      const { left, resetsAt } = answer;
      return refused({ code: "quota-exceeded", recipients, limit, left, resetsAt });
    }
  }
  const acceptance = await acceptJob(log, contentStore, draft, cause, at);
  return acceptance.outcome === "accepted"
    ? acceptance
    : refused({ code: "rejected", rejection: acceptance.rejection });
}

const refused = (refusal: Refusal): Creation => ({ outcome: "refused", refusal });
