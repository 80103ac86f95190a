import { readMailing } from "../commands/read-version.ts";
import type { JobState } from "../domain/job/state.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";

/** Whether a job is a part of a mailing that was cancelled. Throws Unavailable. */
export type IsOfCancelled = (job: JobRef, state: JobState) => Promise<boolean>;

/**
 * For actions on many jobs: a cancel of a mailing is final, and nobody has looked at its failed parts one by one. Reads each
 * mailing once.
 */
export function createCancelledMailings(log: EventLog): IsOfCancelled {
  const known = new Map<string, Promise<boolean>>();
  const isCancelled = async (mailing: JobRef): Promise<boolean> =>
    (await readMailing(log, mailing)).state.status === "cancelled";
  return async ({ tenant }, state) => {
    const mailingId = state.status === "absent" ? undefined : state.settings.mailingId;
    if (mailingId === undefined) return false;
    const answer = known.get(mailingId) ?? isCancelled({ tenant, jobId: mailingId });
    known.set(mailingId, answer);
    return await answer;
  };
}
