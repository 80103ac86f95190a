import type { JobEvent, JobSettings, OpenTurn } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";

/** The turn that a decision opens at once, if it opens one; one that waits for a time or its group is the waiting list's. */
export function turnOpenedBy(event: JobEvent): OpenTurn | null {
  if (event.type === "JobCreated" && mayRun(event.data, event.data.scheduledAt)) {
    return toTurn({ ...event.data, run: 1, attempt: 1, opening: 0 });
  }
  if (event.type === "JobResumed" && mayRun(event.data, event.data.notBefore)) return toTurn(event.data);
  if (event.type === "JobRescheduled" && mayRun(event.data, event.data.scheduledAt) && !event.data.isPaused) {
    return toTurn(event.data);
  }
  if (event.type === "JobRetried" && mayRun(event.data, null)) return toTurn({ ...event.data, opening: 0 });
  return null;
}

const mayRun = ({ groupSha256 }: Pick<JobSettings, "groupSha256">, notBefore: Instant | null): boolean =>
  groupSha256 === null && notBefore === null;

const toTurn = ({ run, attempt, opening, type, priority }: OpenTurn): OpenTurn => ({
  run,
  attempt,
  opening,
  type,
  priority,
});
