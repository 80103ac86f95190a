import type { JobEvent, JobQueued } from "../domain/job/events.ts";

/** The turn that a decision opens at once, if it opens one; a turn that waits for a time is the waiting list's. */
export function turnOpenedBy(event: JobEvent): JobQueued["data"] | null {
  switch (event.type) {
    case "JobCreated":
      return event.data.scheduledAt === null ? { run: 1, attempt: 1, priority: event.data.priority } : null;
    case "JobResumed":
      return event.data.notBefore === null ? toTurn(event.data) : null;
    case "JobRetried":
      return toTurn(event.data);
    case "JobStarted":
    case "JobRetryScheduled":
    case "JobPaused":
    case "JobCompleted":
    case "JobFailed":
    case "JobCancelled":
    case "JobRequeued":
    case "DeadLetterIgnored":
      return null;
  }
}

const toTurn = ({ run, attempt, priority }: JobQueued["data"]): JobQueued["data"] => ({ run, attempt, priority });
