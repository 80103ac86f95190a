import { accepted, rejected } from "../decider.ts";
import { unreachedIn } from "../job/after-failure.ts";
import { triedOf } from "./brakes.ts";
import type { CommandOf } from "./commands.ts";
import { countsOfEnded } from "./ends.ts";
import type { MailingEvent } from "./events.ts";
import { type ExistingMailing, hasMailingEnded, type KnownPart, type MailingDecision } from "./state.ts";

/** The parts are run again whose jobs have failed, or completed without some of their recipients. */
export function retry({ at, scope, reason }: CommandOf<"RetryMailing">, state: ExistingMailing): MailingDecision {
  const { status } = state;
  if (!hasMailingEnded(state)) return rejected({ code: "mailing-has-not-ended", currentStatus: status });
  if (state.isErased) return rejected({ code: "mailing-not-found" });
  const parts = state.parts.flatMap((part, index) => (mayRunAgain(part) ? [index] : []));
  if (status === "cancelled" || parts.length === 0) {
    return rejected({ code: "mailing-has-not-failed", currentStatus: status });
  }
  return accepted({ type: "MailingRetried", at, data: { parts, scope, reason } });
}

/** As for the retry of a job. */
export const mayRunAgain = ({ result, counts }: Pick<KnownPart, "result" | "counts">): boolean =>
  result === "failed" || (result === "completed" && counts !== null && unreachedIn(counts) > 0);

type Retried = Extract<MailingEvent, { type: "MailingRetried" }>;

/** As if these parts had never ended: what they had tried and sent is not counted now, nor may it count as tried before. */
export function openAgain(state: ExistingMailing, { data }: Retried): ExistingMailing {
  const again = new Set(data.parts);
  const parts = state.parts.map((part, index) => (again.has(index) ? { ...part, counts: null, result: null } : part));
  const counts = countsOfEnded(parts);
  return {
    ...state,
    parts,
    status: "started",
    endedAt: null,
    retries: state.retries + 1,
    retryScope: data.scope,
    triedBefore: triedOf(counts),
    reportsBefore: { ...state.reports, sent: counts.sent },
  };
}
