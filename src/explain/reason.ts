import type { Instant } from "../domain/message.ts";
import type { WorkerState } from "../workers/membership.ts";
import type { SlowedReceiver } from "./mail-of-job.ts";

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
  "route-away",
  "receiver-slowed",
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
export type NotKnown = "workers" | "group" | "jobs-ahead" | "receivers" | "parts";

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

/** That every mail route which may carry the mails is away for every worker. Other jobs go on meanwhile. */
export function reasonsOfRoutes(workers: readonly WorkerState[], names: readonly string[], asked: boolean) {
  const seen = workers.flatMap(({ routes = [] }) => routes.filter(({ name }) => names.includes(name)));
  if (seen.length === 0 || seen.some(({ isUsable }) => isUsable)) return [];
  const all = names.join(", ");
  const which = asked
    ? `The mail route ${all}, which it asks for, is away`
    : names.length === 1
      ? `The mail route ${all}, the only one that may carry its mails, is away`
      : `The mail routes that may carry its mails are away (${all})`;
  const message = `${which}: every worker has found it so, and probes it.`;
  return [reason("route-away", null, message, { changedBy: "the return of the server of the route" })];
}

/** More would be a list, which GET /api/admin/throttles is. */
const mostNamed = 3;

/** Which receivers of its recipients have asked for patience. */
export function reasonsOfReceivers(slowed: readonly SlowedReceiver[]): readonly Reason[] {
  return slowed.slice(0, mostNamed).map(({ receiver, perMinute, since, pausedUntil, answer }, place) => {
    const pace = pausedUntil === null ? `gets ${perMinute} mails a minute` : `gets no mail until ${pausedUntil}`;
    const others = slowed.length - mostNamed;
    const more =
      place === mostNamed - 1 && others > 0
        ? ` So ${others === 1 ? "has 1 other receiver" : `have ${others} other receivers`} of its recipients.`
        : "";
    const message = `The receiver ${receiver} has asked for patience (${answer}) and ${pace}; its recipients wait, and no attempt is used up for them.${more}`;
    return reason("receiver-slowed", since, message, {
      until: pausedUntil,
      changedBy: "answers of the receiver that take mails",
    });
  });
}
