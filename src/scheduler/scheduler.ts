import type { JobEvent, JobQueued, JobSettings, OpenTurn } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import { actOnDecisions, type DecisionActor, type DecisionFeed } from "../event-log/decision-feed.ts";
import type { EventLog, NewEvent, StoredEvent } from "../event-log/event-log.ts";
import type { OverflowLanes } from "./overflow-lanes.ts";

type Report = (failure: unknown) => void;

/** A decision that could not be carried out is delivered again after this. */
const tryAgainMs = 500;

/**
 * Queues jobs that may run at once, straight from the log. A crash between a decision and its JobQueued leaves nothing
 * stuck, because the decision was not acknowledged; a second JobQueued for the same turn starts nothing.
 */
export function createScheduler(
  log: EventLog,
  feed: DecisionFeed,
  lanes: OverflowLanes,
  report: Report,
): DecisionActor {
  return actOnDecisions(
    feed,
    async (decision) => {
      const turn = turnOpenedBy(decision.event);
      if (turn !== null) await log.record(decision, [toQueued(decision, lanes.place(decision, turn))]);
    },
    tryAgainMs,
    report,
  );
}

/** The id derives from the decision that opened the turn, so that a repetition is recognised. */
export const toQueued = (
  cause: Pick<StoredEvent, "jobId" | "sequence" | "id" | "correlationId" | "traceparent">,
  turn: JobQueued["data"],
): NewEvent<JobQueued> => ({
  id: `${cause.jobId}/${cause.sequence}/JobQueued`,
  actor: "scheduler",
  correlationId: cause.correlationId,
  causationId: cause.id,
  traceparent: cause.traceparent,
  event: { type: "JobQueued", at: new Date().toISOString(), data: turn },
});

/** The turn that a decision opens at once, if any; a turn that waits for a time or its group belongs to the waiting list. */
function turnOpenedBy(event: JobEvent): OpenTurn | null {
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
