import { accepted, type Decider, rejected } from "../decider.ts";
import type { Instant } from "../message.ts";
import { ignore, requeue, retry, unreachedIn } from "./after-failure.ts";
import type { JobCommand } from "./commands.ts";
import { abandon, erase, erasedAfter, nothingErased, settingsAfter } from "./erase-content.ts";
import type { JobEvent, JobSettings, Opening, Turn } from "./events.ts";
import { hasEnded, pause, reschedule, resume } from "./hold-back.ts";
import { endTakeovers, holdsLease, isSameTurn, release, start, takeoversOnStart } from "./lease.ts";
import type { CommandOf, Existing, JobDecision, JobRejection, JobState, Known } from "./state.ts";

export const jobDecider: Decider<JobCommand, JobState, JobEvent, JobRejection> = {
  initialState: { status: "absent", isAbandoned: false },
  decide: (command, state) => {
    if (command.type === "CreateJob") return create(command, state);
    if (command.type === "AbandonJob") return abandon(command, state);
    if (state.status === "absent") return rejected({ code: "job-not-found" });
    switch (command.type) {
      case "StartJob":
        return start(command, state);
      case "ReleaseJob":
        return release(command, state);
      case "EndTakeovers":
        return endTakeovers(command, state);
      case "CompleteJob":
        return complete(command, state);
      case "FailJob":
        return fail(command, state);
      case "ScheduleRetry":
        return scheduleRetry(command, state);
      case "CancelJob":
        return cancel(command, state);
      case "RetryJob":
        return retry(command, state);
      case "PauseJob":
        return pause(command, state);
      case "ResumeJob":
        return resume(command, state);
      case "RescheduleJob":
        return reschedule(command, state);
      case "RequeueDeadLetter":
        return requeue(command, state);
      case "IgnoreDeadLetter":
        return ignore(command, state);
      case "EraseContent":
        return erase(command, state);
    }
  },
  evolve: (state, event) => {
    if (event.type === "JobCreated") return created(event.data);
    if (state.status === "absent") return { ...state, isAbandoned: event.type === "JobContentErased" };
    const { settings, hasStarted, erased, run, attempt, opening, deferrals, takeovers } = state;
    const known: Known = { settings, hasStarted, erased, run, attempt, opening, deferrals, takeovers };
    switch (event.type) {
      case "JobStarted": {
        const started = { ...known, ...turnOf(event.data), hasStarted: true, takeovers: takeoversOnStart(state) };
        return { ...started, status: "processing", worker: event.data.worker, isReleased: false };
      }
      case "JobReleased":
        return state.status === "processing" ? { ...state, isReleased: true } : state;
      case "JobRetryScheduled":
        return { ...nextTurn(known, event.data), deferrals: deferralsAfter(state, event.data), status: "retrying" };
      case "JobRetried":
        return { ...nextTurn(known, event.data), deferrals: 0, status: "pending" };
      case "JobResumed":
        return { ...known, ...openingOf(event.data), status: statusUntil(event.data.notBefore) };
      case "JobRescheduled": {
        const { priority, scheduledAt, isPaused } = event.data;
        const changed = { ...known, ...openingOf(event.data), settings: { ...settings, priority, scheduledAt } };
        return { ...changed, status: isPaused ? "paused" : statusUntil(scheduledAt) };
      }
      case "JobPaused":
        return { ...known, status: "paused" };
      case "JobCompleted":
        return { ...known, status: "completed", unreached: unreachedIn(event.data.counts) };
      case "JobFailed":
        return { ...known, status: "failed", requeuedAs: null, isIgnored: false };
      case "JobCancelled":
        return { ...known, status: "cancelled" };
      case "JobRequeued":
        return state.status === "failed" ? { ...state, requeuedAs: event.data.asJobId } : state;
      case "DeadLetterIgnored":
        return state.status === "failed" ? { ...state, isIgnored: true } : state;
      case "JobContentErased":
        return { ...state, erased: erasedAfter(erased, event.data), settings: settingsAfter(settings, event.data) };
    }
  },
};

/** The state after all decisions about a job, oldest first. */
export const stateAfter = (decisions: readonly JobEvent[]): JobState =>
  decisions.reduce(jobDecider.evolve, jobDecider.initialState);

const turnOf = ({ run, attempt }: Turn): Turn => ({ run, attempt });

const nextTurn = (known: Known, turn: Turn): Known => ({ ...known, ...turnOf(turn), opening: 0, takeovers: 0 });

const deferralsAfter = ({ deferrals }: Known, { isForDeferred }: { readonly isForDeferred?: true }): number =>
  deferrals + (isForDeferred === true ? 1 : 0);

const openingOf = ({ run, attempt, opening }: Turn & Opening): Turn & Opening => ({ run, attempt, opening });

const statusUntil = (notBefore: Instant | null): "pending" | "scheduled" =>
  notBefore === null ? "pending" : "scheduled";

const created = (settings: JobSettings): JobState => ({
  status: statusUntil(settings.scheduledAt),
  settings,
  hasStarted: false,
  erased: nothingErased,
  run: 1,
  attempt: 1,
  opening: 0,
  deferrals: 0,
  takeovers: 0,
});

function create(command: CommandOf<"CreateJob">, state: JobState): JobDecision {
  if (state.status === "absent") {
    // Its content may be erased at any moment: there will never be a job with this id.
    if (state.isAbandoned) return rejected({ code: "job-not-found" });
    return accepted({ type: "JobCreated", at: command.at, data: command.settings });
  }
  const isRepeat = state.settings.requestSha256 === command.settings.requestSha256;
  return isRepeat ? accepted() : rejected({ code: "idempotency-key-reused" });
}

function complete(command: CommandOf<"CompleteJob">, state: Existing): JobDecision {
  if (state.status === "completed" && isSameTurn(command, state)) return accepted();
  if (!holdsLease(command, state)) return rejected({ code: "lease-lost", currentStatus: state.status });
  return accepted({ type: "JobCompleted", at: command.at, data: { ...turnOf(command), counts: command.counts } });
}

function fail(command: CommandOf<"FailJob">, state: Existing): JobDecision {
  if (state.status === "failed" && isSameTurn(command, state)) return accepted();
  if (!holdsLease(command, state)) return rejected({ code: "lease-lost", currentStatus: state.status });
  const { error, counts } = command;
  return accepted({ type: "JobFailed", at: command.at, data: { ...turnOf(command), error, counts } });
}

/** An attempt that ended without ending the job: another one follows, unless this was the last. */
function scheduleRetry(command: CommandOf<"ScheduleRetry">, state: Existing): JobDecision {
  const wasPutOff = state.status === "retrying" && isSameTurn({ ...command, attempt: command.attempt + 1 }, state);
  const hasEndedSo = state.status === "failed" && isSameTurn(command, state);
  if (wasPutOff || hasEndedSo) return accepted();
  if (!holdsLease(command, state)) return rejected({ code: "lease-lost", currentStatus: state.status });
  const { at, error, counts, nextAttemptAt, run, attempt, isForDeferred } = command;
  if (!isForDeferred && attempt - state.deferrals >= state.settings.maxAttempts) {
    return accepted({ type: "JobFailed", at, data: { run, attempt, error, counts } });
  }
  const { type, priority } = state.settings;
  return accepted({
    type: "JobRetryScheduled",
    at,
    data: { run, attempt: attempt + 1, type, priority, nextAttemptAt, error, ...(isForDeferred && { isForDeferred }) },
  });
}

function cancel(command: CommandOf<"CancelJob">, state: Existing): JobDecision {
  if (hasEnded(state)) return rejected({ code: "job-has-ended", currentStatus: state.status });
  return accepted({ type: "JobCancelled", at: command.at, data: { reason: command.reason } });
}
