import { Unavailable } from "../domain/unavailable.ts";
import {
  type Cause,
  type EventLog,
  type JobRef,
  LogFull,
  type NewEvent,
  VersionConflict,
  type WaybillEvent,
} from "./event-log.ts";

/** What became of one attempt to store something. */
export type AppendOutcome = "stored" | "conflict" | "full" | "unavailable" | "failed";

export type Append = {
  readonly job: JobRef;
  readonly event: WaybillEvent;
  readonly cause: Cause;
  readonly outcome: AppendOutcome;
  readonly ms: number;
};

/** The same log, which tells of every append when it is over. */
export const observeAppends = (log: EventLog, observe: (append: Append) => void): EventLog => ({
  ...log,
  append: (job, event, expectedSequence) =>
    timed(
      () => log.append(job, event, expectedSequence),
      (outcome, ms) => observe(toAppend(job, event, outcome, ms)),
    ),
  record: (job, event) =>
    timed(
      () => log.record(job, event),
      (outcome, ms) => observe(toAppend(job, event, outcome, ms)),
    ),
});

const toAppend = (job: JobRef, { event, ...cause }: NewEvent, outcome: AppendOutcome, ms: number): Append => ({
  job,
  event,
  cause,
  outcome,
  ms,
});

/** Tells of what is done when it is over, and how it ended. */
export async function timed<Result>(
  act: () => Promise<Result>,
  over: (outcome: AppendOutcome, ms: number) => void,
): Promise<Result> {
  const began = performance.now();
  try {
    const result = await act();
    over("stored", performance.now() - began);
    return result;
  } catch (failure) {
    over(outcomeOf(failure), performance.now() - began);
    throw failure;
  }
}

function outcomeOf(failure: unknown): AppendOutcome {
  if (failure instanceof VersionConflict) return "conflict";
  if (failure instanceof LogFull) return "full";
  return failure instanceof Unavailable ? "unavailable" : "failed";
}
