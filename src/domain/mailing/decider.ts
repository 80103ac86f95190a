import { accepted, type Decider, rejected } from "../decider.ts";
import { ifAhead } from "../job/hold-back.ts";
import type { Instant } from "../message.ts";
import { approve, needsApproval, reject, requestApproval } from "./approval.ts";
import type { CommandOf, MailingCommand } from "./commands.ts";
import { countReports, endParts } from "./ends.ts";
import type { MailingEvent } from "./events.ts";
import { evolve } from "./evolve.ts";
import { retry } from "./run-again.ts";
import {
  type ExistingMailing,
  hasMailingEnded,
  isNotStarted,
  type MailingDecision,
  type MailingRejection,
  type MailingState,
  restingSince,
} from "./state.ts";
import { test } from "./tests.ts";
import { release, undo, undoUntilOf } from "./undo.ts";

/** Twenty million recipients, if the parts are full: what knows the parts of a mailing holds some hundred bytes of each. */
export const maxParts = 20_000;

export const mailingDecider: Decider<MailingCommand, MailingState, MailingEvent, MailingRejection> = {
  initialState: { status: "absent", isAbandoned: false },
  decide: (command, state) => {
    if (command.type === "CreateMailing") return create(command, state);
    if (command.type === "AbandonMailing") return abandon(command, state);
    if (state.status === "absent") return rejected({ code: "mailing-not-found" });
    switch (command.type) {
      case "AddParts":
        return addParts(command, state);
      case "AbandonPart":
        return abandonPart(command, state);
      case "StartMailing":
        return start(command, state);
      case "TestMailing":
        return test(command, state);
      case "ApproveMailing":
        return approve(command, state, (scheduledAt) => toStart(command.at, scheduledAt, state));
      case "RejectMailing":
        return reject(command, state);
      case "UndoMailing":
        return undo(command, state);
      case "ReleaseMailing":
        return release(command, state);
      case "PauseMailing":
        return pause(command, state);
      case "ResumeMailing":
        return resume(command, state);
      case "CancelMailing":
        return cancel(command, state);
      case "EndParts":
        return endParts(command, state);
      case "CountReports":
        return countReports(command, state);
      case "RetryMailing":
        return retry(command, state);
      case "RetireMailing":
        return retire(command, state);
    }
  },
  evolve,
};

function create({ at, settings }: CommandOf<"CreateMailing">, state: MailingState): MailingDecision {
  if (state.status === "absent") {
    if (state.isAbandoned) return rejected({ code: "mailing-not-found" });
    return accepted({ type: "MailingCreated", at, data: settings });
  }
  const isRepeat = state.settings.requestSha256 === settings.requestSha256;
  return isRepeat ? accepted() : rejected({ code: "idempotency-key-reused" });
}

/** Guarded as the creation is, so that of the two one is refused: see the same decision about a job. */
function abandon({ at, reason }: CommandOf<"AbandonMailing">, state: MailingState): MailingDecision {
  if (state.status !== "absent" || state.isAbandoned) return accepted();
  return accepted({ type: "MailingContentErased", at, data: { reason } });
}

function addParts({ at, parts }: CommandOf<"AddParts">, state: ExistingMailing): MailingDecision {
  const { status } = state;
  if (hasMailingEnded(state)) return rejected({ code: "mailing-has-ended", currentStatus: status });
  if (status === "awaiting-approval") return rejected({ code: "mailing-awaits-approval", currentStatus: status });
  if (status !== "draft") return rejected({ code: "mailing-has-started", currentStatus: status });
  if (state.parts.length + parts.length > maxParts) return rejected({ code: "mailing-is-full", maxParts });
  return accepted({ type: "MailingPartsAdded", at, data: { first: state.parts.length, parts } });
}

/** A part that was added is not abandoned. The event alone makes an import that is about to add the part conflict. */
function abandonPart({ at, jobId }: CommandOf<"AbandonPart">, state: ExistingMailing): MailingDecision {
  if (state.status !== "draft" || state.parts.some((part) => part.jobId === jobId)) return accepted();
  return accepted({ type: "MailingPartAbandoned", at, data: { jobId } });
}

/** A time in the past means now. Asked for once more with the same time, it is a repeat, also after a short mailing's end. */
function start(command: CommandOf<"StartMailing">, state: ExistingMailing): MailingDecision {
  const { at, scheduledAt: asked, terms } = command;
  const { status, parts, settings, approval } = state;
  if (status === "cancelled" || state.isErased) return rejected({ code: "mailing-has-ended", currentStatus: status });
  const scheduledAt = ifAhead(asked, at);
  if (status === "awaiting-approval") {
    const isRepeat = approval?.scheduledAt === asked || approval?.scheduledAt === scheduledAt;
    return isRepeat ? accepted() : rejected({ code: "mailing-awaits-approval", currentStatus: status });
  }
  if (status !== "draft") {
    const isRepeat = state.scheduledAt === asked || state.scheduledAt === scheduledAt;
    if (isRepeat) return accepted();
    return rejected({
      code: hasMailingEnded(state) ? "mailing-has-ended" : "mailing-has-started",
      currentStatus: status,
    });
  }
  if (parts.length === 0) return rejected({ code: "mailing-is-empty" });
  const started = toStart(at, scheduledAt, state);
  const recipients = recipientsOf(state);
  if (started.outcome === "rejected" || !needsApproval(settings, recipients, terms)) return started;
  return requestApproval({ ...command, scheduledAt }, state, recipients);
}

/** The start of a draft, or of a mailing that was approved a moment ago. */
function toStart(at: Instant, wanted: Instant | null, state: ExistingMailing): MailingDecision {
  const { settings, parts } = state;
  const scheduledAt = ifAhead(wanted, at);
  const undoUntil = undoUntilOf(at, settings.undoForMs, scheduledAt);
  const begin = undoUntil ?? scheduledAt;
  if (begin !== null && settings.notAfter !== null && settings.notAfter < begin) {
    return rejected({ code: "scheduled-too-late", scheduledAt: begin, notAfter: settings.notAfter });
  }
  const data = { parts: parts.length, recipients: recipientsOf(state), scheduledAt, undoUntil };
  return accepted({ type: "MailingStarted", at, data });
}

function pause({ at, reason }: CommandOf<"PauseMailing">, state: ExistingMailing): MailingDecision {
  const { status } = state;
  if (status === "paused") return accepted();
  if (status === "awaiting-approval") return rejected({ code: "mailing-awaits-approval", currentStatus: status });
  if (status === "draft") return rejected({ code: "mailing-not-started", currentStatus: status });
  if (status !== "started") return rejected({ code: "mailing-has-ended", currentStatus: status });
  return accepted({ type: "MailingPaused", at, data: { reason } });
}

function resume({ at, reason }: CommandOf<"ResumeMailing">, { status }: ExistingMailing): MailingDecision {
  if (status !== "paused") return rejected({ code: "mailing-not-paused", currentStatus: status });
  return accepted({ type: "MailingResumed", at, data: { reason } });
}

function cancel({ at, reason }: CommandOf<"CancelMailing">, state: ExistingMailing): MailingDecision {
  if (hasMailingEnded(state)) return rejected({ code: "mailing-has-ended", currentStatus: state.status });
  return accepted({ type: "MailingCancelled", at, data: { reason } });
}

/** A mailing that has not started, and that nobody has touched, is cancelled by it, in the same entry: its parts are erased as those of any other. */
function retire({ at, restingBefore, reason }: CommandOf<"RetireMailing">, state: ExistingMailing): MailingDecision {
  const since = restingSince(state);
  if (state.isErased || since === null || since >= restingBefore) return accepted();
  const erased: MailingEvent = { type: "MailingContentErased", at, data: { reason } };
  if (!isNotStarted(state)) return accepted(erased);
  return accepted<MailingEvent>({ type: "MailingCancelled", at, data: { reason } }, erased);
}

const recipientsOf = ({ parts }: ExistingMailing): number => parts.reduce((sum, part) => sum + part.recipients, 0);
