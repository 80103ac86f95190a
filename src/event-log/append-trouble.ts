import type { AppendOutcome } from "./observe-appends.ts";

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
