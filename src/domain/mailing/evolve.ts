import type { Instant } from "../message.ts";
import { approvalAfter } from "./approval.ts";
import { noneTried, noReports, triedOf } from "./brakes.ts";
import { countsOfEnded, withEnds } from "./ends.ts";
import type { MailingEvent } from "./events.ts";
import { openAgain } from "./run-again.ts";
import type { ExistingMailing, MailingState } from "./state.ts";
import { withTest } from "./tests.ts";

/** The mailing after the event. */
export function evolve(state: MailingState, event: MailingEvent): MailingState {
  if (event.type === "MailingCreated") {
    const { at, data: settings } = event;
    return {
      ...draftAt(at),
      settings,
      parts: [],
      createdAt: at,
      endedAt: null,
      wasUndone: false,
      approval: null,
      tests: [],
      retries: 0,
      retryScope: "failed",
      stoppedBy: null,
      triedBefore: noneTried,
      reports: { ...noReports, upTo: 0 },
      reportsBefore: noReports,
      isErased: false,
    };
  }
  if (state.status === "absent") return { ...state, isAbandoned: event.type === "MailingContentErased" };
  return { ...evolved(state, event), approval: approvalAfter(state.approval, event) };
}

type Change = Exclude<MailingEvent, { type: "MailingCreated" }>;

function evolved(state: ExistingMailing, event: Change): ExistingMailing {
  switch (event.type) {
    case "MailingPartsAdded": {
      const parts = [...state.parts, ...event.data.parts.map((part) => ({ ...part, counts: null, result: null }))];
      return { ...state, parts, touchedAt: event.at };
    }
    case "MailingStarted": {
      const { scheduledAt, undoUntil } = event.data;
      return { ...state, status: "started", startedAt: event.at, scheduledAt, undoUntil, wasUndone: false };
    }
    case "MailingTested":
      return { ...state, tests: withTest(state.tests, event), touchedAt: event.at };
    case "MailingApprovalRequested":
      return { ...state, status: "awaiting-approval", touchedAt: event.at, wasUndone: false };
    case "MailingRejected":
      return { ...state, ...draftAt(event.at) };
    case "MailingUndone":
      return { ...state, ...draftAt(event.at), wasUndone: true };
    case "MailingReleased":
      return { ...state, undoUntil: null };
    case "MailingPaused":
      return { ...state, status: "paused", stoppedBy: event.data.stoppedBy ?? null };
    case "MailingResumed":
      return {
        ...state,
        status: "started",
        stoppedBy: null,
        triedBefore: triedOf(countsOfEnded(state.parts)),
        reportsBefore: state.reports,
      };
    case "MailingReportsCounted":
      return { ...state, reports: event.data };
    case "MailingCancelled":
      return { ...state, status: "cancelled", undoUntil: null, stoppedBy: null, endedAt: event.at };
    case "MailingPartsEnded":
      return { ...state, parts: withEnds(state.parts, event.data.parts) };
    case "MailingCompleted":
      return { ...state, status: event.data.result, stoppedBy: null, endedAt: event.at };
    case "MailingRetried":
      return openAgain(state, event);
    case "MailingContentErased":
      return { ...state, isErased: true };
    case "MailingPartAbandoned":
    case "MailingApproved":
      return state;
  }
}

const draftAt = (at: Instant) =>
  ({ status: "draft", touchedAt: at, scheduledAt: null, startedAt: null, undoUntil: null }) as const;
