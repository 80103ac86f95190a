import type { JobEvent, JobSettings, OpenTurn } from "../../domain/job/events.ts";
import { statusOnceOpen } from "../../domain/job/job-view.ts";
import type { Instant } from "../../domain/message.ts";
import type { StoredEvent } from "../../event-log/event-log.ts";
import type { Companion, Listener } from "../../event-log/following/listener.ts";
import { isDecision } from "../../event-log/select-events.ts";
import type { QueuedTurn, Turns } from "../turns.ts";
import { createOverflowLanes } from "./overflow-lanes.ts";

/** Puts a turn into its lane, or into the overflow behind it. */
export type PutTurn = (turn: QueuedTurn) => Promise<void>;

/** A decision that could not be carried out is tried again after this. */
const tryAgainMs = 500;
const atOnce = 200;
/** A job that is created in a steady flow waits for its turn this much longer at most. */
const restMs = 20;
/** In entries: a scheduler without a checkpoint puts the turns of what was decided shortly before. */
const firstLooksBack = 10_000;

/**
 * Puts the turns of jobs that may run at once, straight from the log. A crash between a decision and its turn leaves
 * nothing stuck, because the checkpoint is still before the decision; a second turn starts nothing. Without a checkpoint
 * it begins near the end of the log: of the jobs before that, the comparison with the read models puts the turns that are
 * missing (see missing-turns.ts), again every minute, so that one that the read models learn of later is put, too.
 */
export function createScheduler(
  turns: Pick<Turns, "put">,
  companions: (put: PutTurn) => readonly Companion[] = () => [],
): Listener {
  const lanes = createOverflowLanes();
  const put: PutTurn = (turn) => turns.put(turn, lanes.place(turn));
  return {
    name: "scheduler",
    beginAfter: (lastSequence) => Math.max(0, lastSequence - firstLooksBack),
    act: (decision) => {
      if (!isDecision(decision)) return null;
      lanes.decided(decision);
      const turn = turnOpenedBy(decision.event);
      return turn === null ? null : put(queuedAfter(decision, turn));
    },
    atOnce,
    tryAgainMs,
    restMs,
    companions: () => {
      // What it knows may be from long ago, before another process was active.
      lanes.forgetAll();
      return companions(put);
    },
  };
}

/** The turn, and the decision that opened it. */
export const queuedAfter = (
  decision: StoredEvent<JobEvent>,
  { run, attempt, opening, type, priority }: OpenTurn,
): QueuedTurn => {
  const { tenant, jobId, id, sequence, correlationId, traceparent } = decision;
  const cause = { id, correlationId, traceparent };
  const created = decision.event.type === "JobCreated" ? decision : null;
  return { tenant, jobId, run, attempt, opening, type, priority, after: sequence, cause, created };
};

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
