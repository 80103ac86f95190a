import { accepted, rejected } from "../decider.ts";
import type { RecipientCounts } from "./events.ts";
import type { CommandOf, Existing, JobDecision, JobState } from "./state.ts";

/**
 * Recipients that have failed, of whom nobody knows, or that the last retry left out: a job that completed without them may be
 * run again.
 */
export const unreachedIn = ({ failed, pending, unknown }: Unreached): number => failed + pending + unknown;

type Unreached = Pick<RecipientCounts, "failed" | "pending" | "unknown">;

type Failed = Extract<JobState, { status: "failed" }>;

/**
 * A job that completed without some of its recipients is run again for those. The unsent recipients of one that failed belong
 * to another job once that exists: to mail them from both jobs would mail them twice.
 */
export function retry(command: CommandOf<"RetryJob">, state: Existing): JobDecision {
  if (!hasUnreached(state)) return rejected({ code: "job-not-failed", currentStatus: state.status });
  if (state.status === "failed" && state.requeuedAs !== null)
    return rejected({ code: "job-requeued", currentStatus: state.status });
  if (state.erased.isWhole) return rejected({ code: "content-erased", currentStatus: state.status });
  const { scope, reason } = command;
  const { type, priority, groupSha256 } = state.settings;
  return accepted({
    type: "JobRetried",
    at: command.at,
    data: { run: state.run + 1, attempt: 1, type, priority, groupSha256, scope, reason },
  });
}

/** An ignored dead letter can still be requeued: ignoring it does not forbid it. */
export function requeue(
  { at, run, asJobId, insteadOf, reason }: CommandOf<"RequeueDeadLetter">,
  state: Existing,
): JobDecision {
  if (!isDeadLetterOf(run, state)) return refuseDeadLetter(run, state);
  if (state.requeuedAs !== null && state.requeuedAs !== insteadOf) return accepted();
  if (state.erased.isWhole) return rejected({ code: "content-erased", currentStatus: state.status });
  return accepted({ type: "JobRequeued", at, data: { run, asJobId, reason } });
}

export function ignore({ at, run, reason }: CommandOf<"IgnoreDeadLetter">, state: Existing): JobDecision {
  if (!isDeadLetterOf(run, state)) return refuseDeadLetter(run, state);
  if (state.requeuedAs !== null) return rejected({ code: "dead-letter-closed", currentStatus: "requeued" });
  if (state.isIgnored) return accepted();
  return accepted({ type: "DeadLetterIgnored", at, data: { run, reason } });
}

const hasUnreached = (state: Existing): boolean =>
  state.status === "failed" || (state.status === "completed" && state.unreached > 0);

const isDeadLetterOf = (run: number, state: Existing): state is Failed =>
  state.status === "failed" && state.run === run;

/** Each run that failed left a dead letter; the retry that began the next run has closed it. */
const refuseDeadLetter = (run: number, state: Existing): JobDecision =>
  run >= 1 && run < state.run
    ? rejected({ code: "dead-letter-closed", currentStatus: "retried" })
    : rejected({ code: "dead-letter-not-found" });
