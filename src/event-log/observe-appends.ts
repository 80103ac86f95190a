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

/** An append that had no answer says something about the log for so long; then it is worth another try. */
const memoryMs = 30_000;

export type AppendTrouble = {
  heard(outcome: AppendOutcome): void;
  /** A connection that stands again may be one to a server that was started anew. */
  forget(): void;
  /** Whether the last append that this process tried, not long ago, had no answer. */
  isFresh(): boolean;
};

/**
 * What a process's own appends say about the log. A stream that newer servers have frozen answers every question and
 * refuses what it has to refuse, but stores nothing: only who has tried to store something knows.
 */
export function createAppendTrouble(now: () => number = () => performance.now()): AppendTrouble {
  let troubledAt: number | null = null;
  return {
    heard: (outcome) => {
      troubledAt = outcome === "unavailable" ? now() : null;
    },
    forget: () => {
      troubledAt = null;
    },
    isFresh: () => troubledAt !== null && now() - troubledAt < memoryMs,
  };
}
