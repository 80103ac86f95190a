import { accepted, rejected } from "../decider.ts";
import type { Instant } from "../message.ts";
import type { CommandOf } from "./commands.ts";
import { type ExistingMailing, hasMailingEnded, type MailingDecision } from "./state.ts";

/** Null where the start cannot be taken back. A mailing for a later time can be taken back until then. */
export function undoUntilOf(at: Instant, undoForMs: number, scheduledAt: Instant | null): Instant | null {
  if (undoForMs === 0) return null;
  const atLeast = new Date(Date.parse(at) + undoForMs).toISOString();
  return scheduledAt !== null && scheduledAt > atLeast ? scheduledAt : atLeast;
}

/**
 * The clock of the caller says only how long people have. What keeps a mail from leaving after an undo is the order in the
 * log: a part is made after MailingReleased, and of that decision and an undo at the same moment one is refused.
 */
export function undo({ at, reason }: CommandOf<"UndoMailing">, state: ExistingMailing): MailingDecision {
  const { status, undoUntil } = state;
  if (status === "draft") {
    return state.wasUndone ? accepted() : rejected({ code: "mailing-not-started", currentStatus: status });
  }
  if (status === "awaiting-approval") return rejected({ code: "mailing-awaits-approval", currentStatus: status });
  if (hasMailingEnded(state)) return rejected({ code: "mailing-has-ended", currentStatus: status });
  if (undoUntil === null || undoUntil <= at)
    return rejected({ code: "undo-time-over", currentStatus: status, undoUntil });
  return accepted({ type: "MailingUndone", at, data: { reason } });
}

/** Whatever the clock of the process that makes the parts says: while the mailing can be taken back, there is no event. */
export function release({ at }: CommandOf<"ReleaseMailing">, state: ExistingMailing): MailingDecision {
  const { status, undoUntil, parts } = state;
  if (status !== "started" || undoUntil === null || at < undoUntil) return accepted();
  return accepted({ type: "MailingReleased", at, data: { parts: parts.length } });
}
