import { Unavailable } from "../domain/unavailable.ts";
import type { EventLog, JobRef, NewEntry } from "./event-log.ts";
import { LogFull, VersionConflict } from "./log-failures.ts";

/** The result of one attempt to store something. */
export type AppendOutcome = "stored" | "conflict" | "full" | "unavailable" | "failed";

export type Append = {
  readonly job: JobRef;
  readonly entry: NewEntry;
  readonly outcome: AppendOutcome;
  readonly ms: number;
};

/** Wraps a log and reports the end of every append. */
export function observeAppends(log: EventLog, observe: (append: Append) => void): EventLog {
  const observed = (job: JobRef, entry: NewEntry, store: () => Promise<number>): Promise<number> =>
    timed(store, (outcome, ms) => observe({ job, entry, outcome, ms }));
  return {
    ...log,
    append: (job, entry, expected) => observed(job, entry, () => log.append(job, entry, expected)),
    record: (job, entry) => observed(job, entry, () => log.record(job, entry)),
  };
}

/** Reports when a call is over, and how it ended. */
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

/** How long an append without an answer counts as evidence about the log; then another attempt is worthwhile. */
const memoryMs = 30_000;

export type AppendTrouble = {
  heard(outcome: AppendOutcome): void;
  /** A new connection may lead to a server that was restarted. */
  forget(): void;
  /** Whether the last append that this process attempted recently got no answer. */
  isFresh(): boolean;
};

/**
 * What a process's own appends reveal about the log. A stream that newer servers have frozen answers every question and
 * rejects what it has to reject, but stores nothing: only an attempt to store something reveals it.
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
