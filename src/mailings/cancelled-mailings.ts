import { readMailing } from "../commands/read-version.ts";
import type { JobState } from "../domain/job/state.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";

/**
 * Asks whether a job is a part of a mailing that was cancelled, for actions on many jobs at once: a cancel of a mailing is
 * final, and its failed parts are not chosen one by one there. Reads each mailing once. Throws Unavailable.
 */
export function createCancelledMailings(log: EventLog) {
  const known = new Map<string, Promise<boolean>>();
  const isCancelled = async (mailing: JobRef): Promise<boolean> =>
    (await readMailing(log, mailing)).state.status === "cancelled";
  return async ({ tenant }: JobRef, state: JobState): Promise<boolean> => {
    const mailingId = state.status === "absent" ? undefined : state.settings.mailingId;
    if (mailingId === undefined) return false;
    const answer = known.get(mailingId) ?? isCancelled({ tenant, jobId: mailingId });
    known.set(mailingId, answer);
    return await answer;
  };
}
