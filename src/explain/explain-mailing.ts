import type { JobStatus } from "../domain/job/job-view.ts";
import { mailingDecider } from "../domain/mailing/decider.ts";
import type { MailingEvent } from "../domain/mailing/events.ts";
import { type ShownStatus, shownStatus } from "../domain/mailing/mailing-record.ts";
import type { ExistingMailing, MailingState } from "../domain/mailing/state.ts";
import { nextInWindow } from "../domain/mailing/window.ts";
import type { Instant } from "../domain/message.ts";
import type { StoredEvent } from "../event-log/event-log.ts";
import type { WorkerState } from "../workers/membership.ts";
import {
  type Asked,
  byWhom,
  type Explanation,
  type NotKnown,
  type Reason,
  reason,
  reasonsOfWorkers,
} from "./reason.ts";

/** How many parts there are of each status that is not an end. */
export type OpenParts = Readonly<Partial<Record<JobStatus, number>>>;

/** `parts` and `workers` are null where no one has to ask: for a draft, and for a mailing that has ended. */
export type FactsOfMailing = {
  readonly decisions: readonly StoredEvent<MailingEvent>[];
  readonly now: Instant;
  readonly parts: Asked<OpenParts> | null;
  readonly workers: Asked<readonly WorkerState[]> | null;
};

export type ExplainedMailing = Explanation & { readonly status: ShownStatus };

export const mailingAfterDecisions = (decisions: FactsOfMailing["decisions"]): MailingState =>
  decisions.reduce((state, { event }) => mailingDecider.evolve(state, event), mailingDecider.initialState);

/** Why a mailing is where it is, and what it waits for. Null for what is no mailing. */
export function explainMailing(facts: FactsOfMailing): ExplainedMailing | null {
  const state = mailingAfterDecisions(facts.decisions);
  if (state.status === "absent") return null;
  const open = facts.parts?.known ? facts.parts.fact : {};
  const begin = state.undoUntil ?? state.scheduledAt;
  const isAhead = begin !== null && begin > facts.now;
  const hasBegun = !isAhead || state.parts.some(({ counts }) => counts !== null) || (open.processing ?? 0) > 0;
  const notKnown: readonly NotKnown[] = (["parts", "workers"] as const).filter((name) => facts[name]?.known === false);
  const status = shownStatus(state.status, begin, hasBegun);
  return { status, reasons: reasonsOf(facts, state, open), notKnown };
}

function reasonsOf(facts: FactsOfMailing, state: ExistingMailing, open: OpenParts): readonly Reason[] {
  const { status, endedAt } = state;
  switch (status) {
    case "draft": {
      const message =
        state.parts.length === 0
          ? "The mailing is a draft without recipients."
          : `The mailing is a draft with ${counted(state.parts.length)}.`;
      const changedBy = state.parts.length === 0 ? "recipients, and then its start" : "its start";
      return [...takenBack(facts, state), reason("draft", state.createdAt, message, { changedBy })];
    }
    case "awaiting-approval": {
      const { requestedBy = "", requestedAt = null } = state.approval ?? {};
      const message = `The mailing waits for an approval, which ${requestedBy} has asked for.`;
      return [reason("awaiting-approval", requestedAt, message, { changedBy: "the approval of another key" })];
    }
    case "completed":
    case "completed-with-failures":
    case "failed":
      return [reason(status, endedAt, `The mailing has ended: ${status}.`)];
    case "cancelled": {
      const by = facts.decisions.findLast(({ event }) => event.type === "MailingCancelled");
      const why = by?.event.type === "MailingCancelled" ? byWhom(by.actor, by.event.data.reason) : "";
      return [reason("cancelled", endedAt, `The mailing was cancelled${why}.`)];
    }
    case "paused": {
      const by = facts.decisions.findLast(({ event }) => event.type === "MailingPaused");
      const why = by?.event.type === "MailingPaused" ? byWhom(by.actor, by.event.data.reason) : "";
      const at = by?.event.at ?? null;
      return [
        reason("paused", at, `The mailing was paused${why}.`, { changedBy: "a resume" }),
        ...ofParts(facts, state, open),
      ];
    }
    case "started":
      return [
        ...undoable(facts, state),
        ...scheduled(facts, state),
        ...outOfHours(facts, state),
        ...ofParts(facts, state, open),
      ];
  }
}

/** Why a mailing that was started is a draft again. */
function takenBack({ decisions }: FactsOfMailing, { wasUndone, approval }: ExistingMailing): readonly Reason[] {
  if (wasUndone) {
    const by = decisions.findLast(({ event }) => event.type === "MailingUndone");
    const why = by?.event.type === "MailingUndone" ? byWhom(by.actor, by.event.data.reason) : "";
    return [reason("undone", by?.event.at ?? null, `The start of the mailing was taken back${why}.`)];
  }
  if (approval?.status !== "rejected") return [];
  const why = byWhom(approval.decidedBy ?? "", approval.reason);
  return [reason("rejected", approval.decidedAt, `The start of the mailing was rejected${why}.`)];
}

function undoable({ now }: FactsOfMailing, { undoUntil, startedAt }: ExistingMailing): readonly Reason[] {
  if (undoUntil === null || undoUntil <= now) return [];
  const message = `The start of the mailing can be taken back until ${undoUntil}.`;
  return [reason("undo-possible", startedAt, message, { until: undoUntil, changedBy: "an undo" })];
}

/** Parts that are jobs by then are finished. */
function outOfHours({ now }: FactsOfMailing, { settings: { brakes } }: ExistingMailing): readonly Reason[] {
  const window = brakes?.window ?? null;
  if (window === null) return [];
  const opens = nextInWindow(window, now);
  if (opens === now) return [];
  return [
    reason("window-shut", null, `Parts are made in the mailing's window, which opens at ${opens}.`, { until: opens }),
  ];
}

function scheduled({ now }: FactsOfMailing, { scheduledAt, startedAt }: ExistingMailing): readonly Reason[] {
  if (scheduledAt === null || scheduledAt <= now) return [];
  return [reason("scheduled", startedAt, `The mailing is scheduled for ${scheduledAt}.`, { until: scheduledAt })];
}

const waitsForWorkers: readonly JobStatus[] = ["queued", "processing"];

/** In sum: each part is a job, and has an explanation of its own. */
function ofParts({ workers, parts }: FactsOfMailing, state: ExistingMailing, open: OpenParts): readonly Reason[] {
  const ended = state.parts.filter(({ counts }) => counts !== null).length;
  const left = state.parts.length - ended;
  const statuses = Object.entries(open).filter(([, count]) => count > 0);
  const made = statuses.reduce((sum, [, count]) => sum + count, 0);
  const since = state.startedAt;
  const inWords = statuses.map(([status, count]) => `${count} ${status}`).join(", ");
  const message = `${left} of ${counted(state.parts.length)} not ended${inWords === "" ? "" : `: ${inWords}`}.`;
  const isWaiting = waitsForWorkers.some((status) => (open[status] ?? 0) > 0);
  const unmade = Math.max(0, left - made);
  const later = `${counted(unmade)} of these will be jobs once the ones before are done.`;
  return [
    ...(left === 0 ? [] : [reason("parts-open", since, message, { changedBy: "the end of its parts" })]),
    ...(parts?.known && unmade > 0
      ? [reason("parts-not-made", since, later, { changedBy: "the end of other parts" })]
      : []),
    ...(isWaiting && workers?.known ? reasonsOfWorkers(workers.fact, state.settings.type) : []),
  ];
}

const counted = (parts: number): string => `${parts} ${parts === 1 ? "part" : "parts"}`;
