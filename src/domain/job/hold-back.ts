import { accepted, rejected } from "../decider.ts";
import type { Instant } from "../message.ts";
import type { CommandOf, Existing, JobDecision } from "./state.ts";

export function pause(command: CommandOf<"PauseJob">, state: Existing): JobDecision {
  if (state.status === "paused") return accepted();
  if (hasEnded(state)) return rejected({ code: "job-has-ended", currentStatus: state.status });
  return accepted({ type: "JobPaused", at: command.at, data: { reason: command.reason } });
}

export function resume(command: CommandOf<"ResumeJob">, state: Existing): JobDecision {
  if (state.status !== "paused") return rejected({ code: "job-not-paused", currentStatus: state.status });
  const { type, priority, scheduledAt, groupSha256 } = state.settings;
  const notBefore = state.hasStarted ? null : ifAhead(scheduledAt, command.at);
  return accepted({
    type: "JobResumed",
    at: command.at,
    data: { ...nextOpening(state), type, priority, groupSha256, notBefore, reason: command.reason },
  });
}

/** A time in the past means now, as it does when a job is created. A request for the current state is a repeat. */
export function reschedule(command: CommandOf<"RescheduleJob">, state: Existing): JobDecision {
  const { settings, status } = state;
  if (hasEnded(state)) return rejected({ code: "job-has-ended", currentStatus: status });
  if (state.hasStarted) return rejected({ code: "job-has-started", currentStatus: status });
  const { at, reason } = command;
  const before = ifAhead(settings.scheduledAt, at);
  const scheduledAt = command.scheduledAt === undefined ? before : ifAhead(command.scheduledAt, at);
  const priority = command.priority ?? settings.priority;
  if (scheduledAt === before && priority === settings.priority) return accepted();
  if (scheduledAt !== null && settings.notAfter !== null && settings.notAfter < scheduledAt) {
    return rejected({ code: "scheduled-too-late", scheduledAt, notAfter: settings.notAfter });
  }
  const { type, groupSha256 } = settings;
  const isPaused = status === "paused";
  return accepted({
    type: "JobRescheduled",
    at,
    data: { ...nextOpening(state), type, priority, groupSha256, scheduledAt, isPaused, reason },
  });
}

export const hasEnded = ({ status }: Existing): boolean =>
  status === "completed" || status === "failed" || status === "cancelled";

const nextOpening = ({ run, attempt, opening }: Existing) => ({ run, attempt, opening: opening + 1 });

export const ifAhead = (time: Instant | null, now: Instant): Instant | null =>
  time !== null && time > now ? time : null;
