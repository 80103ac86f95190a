import { readMailing } from "../commands/read-version.ts";
import type { JobState } from "../domain/job/state.ts";
import type { MailingState } from "../domain/mailing/state.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";

/**
 * The status of the mailing that a job is a part of, null for other jobs; for actions on many jobs at once. What was decided
 * about a mailing as a whole stands there: its parts are not chosen one by one. Reads each mailing once. Throws Unavailable.
 */
export function createStatusOfMailing(log: EventLog) {
  const known = new Map<string, Promise<MailingState["status"]>>();
  const read = async (mailing: JobRef): Promise<MailingState["status"]> =>
    (await readMailing(log, mailing)).state.status;
  return async ({ tenant }: JobRef, state: JobState): Promise<MailingState["status"] | null> => {
    const mailingId = state.status === "absent" ? undefined : state.settings.mailingId;
    if (mailingId === undefined) return null;
    const answer = known.get(mailingId) ?? read({ tenant, jobId: mailingId });
    known.set(mailingId, answer);
    return await answer;
  };
}
