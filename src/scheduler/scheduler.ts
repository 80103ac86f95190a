import type { JobEvent, JobSettings, OpenTurn } from "../domain/job/events.ts";
import { statusOnceOpen } from "../domain/job/job-view.ts";
import type { Instant } from "../domain/message.ts";
import { actOnDecisions, type DecisionActor, type DecisionFeed } from "../event-log/decision-feed.ts";
import type { StoredEvent } from "../event-log/event-log.ts";
import type { QueuedTurn } from "../turns/turns.ts";

type Report = (failure: unknown) => void;

/** Puts a turn into its lane, or into the overflow behind it. */
export type PutTurn = (turn: QueuedTurn) => Promise<void>;

/** A decision that could not be carried out is delivered again after this. */
const tryAgainMs = 500;

/**
 * Puts the turns of jobs that may run at once, straight from the log. A crash between a decision and its turn leaves
 * nothing stuck, because the decision was not acknowledged; a second turn starts nothing.
 */
export function createScheduler(feed: DecisionFeed, put: PutTurn, report: Report): DecisionActor {
  return actOnDecisions(
    feed,
    async (decision) => {
      const turn = turnOpenedBy(decision.event);
      if (turn !== null) await put(queuedAfter(decision, turn));
    },
    tryAgainMs,
    report,
  );
}

/** The turn, and the decision that opened it. */
export const queuedAfter = (
  { tenant, jobId, id, sequence, correlationId, traceparent }: StoredEvent<JobEvent>,
  { run, attempt, opening, type, priority }: OpenTurn,
): QueuedTurn => ({
  tenant,
  jobId,
  run,
  attempt,
  opening,
  type,
  priority,
  after: sequence,
  cause: { id, correlationId, traceparent },
});

/** The turn that a decision opens at once, if any; a turn that waits for a time or its group belongs to the waiting list. */
function turnOpenedBy(event: JobEvent): OpenTurn | null {
  if (event.type === "JobCreated" && mayRun(event.data, event.data.scheduledAt)) {
    return { ...event.data, run: 1, attempt: 1, opening: 0 };
  }
  if (event.type === "JobResumed" && mayRun(event.data, event.data.notBefore)) return event.data;
  if (event.type === "JobRescheduled" && mayRun(event.data, event.data.scheduledAt) && !event.data.isPaused) {
    return event.data;
  }
  if (event.type === "JobRetried" && mayRun(event.data, null)) return { ...event.data, opening: 0 };
  return null;
}

const mayRun = (settings: Pick<JobSettings, "groupSha256">, notBefore: Instant | null): boolean =>
  statusOnceOpen(settings, notBefore) === "queued";
