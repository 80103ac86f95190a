import type { JobEvent, JobSettings, OpenTurn } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";

/** The turn that a decision opens at once, if it opens one; one that waits for a time or its group is the waiting list's. */
export function turnOpenedBy(event: JobEvent): OpenTurn | null {
  switch (event.type) {
    case "JobCreated":
      return mayRun(event.data, event.data.scheduledAt)
        ? toTurn({ ...event.data, run: 1, attempt: 1, opening: 0 })
        : null;
    case "JobResumed":
      return mayRun(event.data, event.data.notBefore) ? toTurn(event.data) : null;
    case "JobRescheduled":
      return mayRun(event.data, event.data.scheduledAt) && !event.data.isPaused ? toTurn(event.data) : null;
    case "JobRetried":
      return mayRun(event.data, null) ? toTurn({ ...event.data, opening: 0 }) : null;
    case "JobStarted":
    case "JobReleased":
    case "JobRetryScheduled":
    case "JobPaused":
    case "JobCompleted":
    case "JobFailed":
    case "JobCancelled":
    case "JobRequeued":
    case "DeadLetterIgnored":
    case "JobContentErased":
      return null;
  }
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
