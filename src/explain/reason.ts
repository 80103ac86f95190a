import type { Instant } from "../domain/message.ts";
import type { WorkerState } from "../workers/membership.ts";

export const reasonCodes = [
  "completed",
  "completed-with-failures",
  "failed",
  "cancelled",
  "draft",
  "undone",
  "rejected",
  "awaiting-approval",
  "undo-possible",
  "paused",
  "scheduled",
  "next-attempt",
  "group-waits",
  "group-turn",
  "jobs-ahead",
  "no-worker",
  "server-away",
  "workers-busy",
  "worker-awaited",
  "worker-at-work",
  "worker-stopped",
  "worker-silent",
  "window-shut",
  "parts-open",
  "parts-not-made",
] as const;

export type ReasonCode = (typeof reasonCodes)[number];

/** Why something is where it is. What is not known is null, and never guessed. */
export type Reason = {
  readonly code: ReasonCode;
  readonly since: Instant | null;
  /** For people. Names no recipient. */
  readonly message: string;
  /** When it changes by itself, if nothing else happens. */
  readonly until: Instant | null;
  /** What changes it otherwise; null where nothing does. */
  readonly changedBy: string | null;
};

/** Facts that were not to be had when they were asked for: the reasons say nothing about them. */
export type NotKnown = "workers" | "group" | "jobs-ahead" | "parts";

export type Explanation = { readonly reasons: readonly Reason[]; readonly notKnown: readonly NotKnown[] };

/** A fact that a store or a process was asked for, or that it could not be had. */
export type Asked<Fact> = { readonly known: true; readonly fact: Fact } | { readonly known: false };

export const reason = (
  code: ReasonCode,
  since: Instant | null,
  message: string,
  more: Partial<Pick<Reason, "until" | "changedBy">> = {},
): Reason => ({ code, since, message, until: null, changedBy: null, ...more });

/** ` by key:abc: the edition was withdrawn`. */
export const byWhom = (actor: string, why: string | null): string => ` by ${actor}${why === null ? "" : `: ${why}`}`;

/**
 * Why the workers of a kind take nothing more now; empty where one of them is free. Since when a breaker is open is known
 * to its process alone.
 */
export function reasonsOfWorkers(workers: readonly WorkerState[], type: string): readonly Reason[] {
  const own = workers.filter((worker) => worker.type === type);
  if (own.length === 0) {
    const message = `No worker for jobs of type ${type} answers.`;
    return [reason("no-worker", null, message, { changedBy: "the start of a worker" })];
  }
  const broken = own.filter(({ breaker }) => breaker !== null && breaker !== "closed");
  if (broken.length === own.length) {
    const message = "The server that these jobs need is away: every worker has found it so, and probes it.";
    return [reason("server-away", null, message, { changedBy: "the return of the server" })];
  }
  if (own.every(({ busy, slots }) => busy >= slots)) {
    const message = "Every worker has as many jobs in hand as it does at once.";
    return [reason("workers-busy", null, message, { changedBy: "the end of another job" })];
  }
  return [];
}
