import { accepted, rejected } from "../decider.ts";
import type { Instant } from "../message.ts";
import type { Opening, Turn } from "./events.ts";
import type { CommandOf, Existing, JobDecision } from "./state.ts";

type OfWorker = Turn & { readonly worker: string };

/**
 * How often within one attempt a job may be taken over from a worker that died or stopped unexpectedly, unless these
 * workers got further. Without the limit, a job that kills each of its workers would come back forever, and mail the
 * recipients in doubt once more each time.
 */
export const mostTakeovers = 5;

/**
 * A job that a worker is processing is taken over: the sender of StartJob has made sure that no other worker is doing
 * it, and if that was a mistake, the older worker finds its lease lost before it claims another recipient. A worker
 * also takes over from itself when it restarts work that it broke off: the new work is done under a new lease.
 */
export function start(command: CommandOf<"StartJob">, state: Existing): JobDecision {
  if (!isOpen(command, state)) return rejected({ code: "turn-not-open", currentStatus: state.status });
  if (isWornOut(state) && !command.hasProgressed)
    return rejected({ code: "too-many-takeovers", currentStatus: state.status });
  if (!state.hasStarted && hasPassed(state.settings.notAfter, command.at)) {
    const message = `The job was not to start after ${state.settings.notAfter}.`;
    return accepted({
      type: "JobFailed",
      at: command.at,
      data: { ...turnOf(command), error: { code: "expired", message }, counts: null },
    });
  }
  return accepted({ type: "JobStarted", at: command.at, data: { ...turnOf(command), worker: command.worker } });
}

/** The attempt continues with the next worker that takes it, and this is no takeover. */
export function release(command: CommandOf<"ReleaseJob">, state: Existing): JobDecision {
  if (state.status === "processing" && state.isReleased && isHolder(command, state)) return accepted();
  if (!holdsLease(command, state)) return rejected({ code: "lease-lost", currentStatus: state.status });
  return accepted({ type: "JobReleased", at: command.at, data: { ...turnOf(command), worker: command.worker } });
}

/** The end of a job that was taken over too often, decided by a worker that was refused the lease for that reason. */
export function endTakeovers(command: CommandOf<"EndTakeovers">, state: Existing): JobDecision {
  const isAbandoned = state.status === "failed" && isSameTurn(command, state);
  if (isAbandoned) return accepted();
  if (!isOpen(command, state) || !isWornOut(state)) {
    return rejected({ code: "turn-not-open", currentStatus: state.status });
  }
  const message = `Attempt ${command.attempt} was begun ${mostTakeovers + 1} times, and each time the worker died or broke off before its end.`;
  const error = { code: "too-many-takeovers", message };
  return accepted({ type: "JobFailed", at: command.at, data: { ...turnOf(command), error, counts: command.counts } });
}

/** How often the attempt has been taken over once a worker holds the lease. */
export const takeoversOnStart = (state: Existing): number => state.takeovers + (isLeftBehind(state) ? 1 : 0);

export const holdsLease = (command: OfWorker, state: Existing): boolean =>
  state.status === "processing" && !state.isReleased && isHolder(command, state);

export const isSameTurn = (one: Turn, other: Turn): boolean => one.run === other.run && one.attempt === other.attempt;

const isHolder = (command: OfWorker, state: OfWorker): boolean =>
  state.worker === command.worker && isSameTurn(command, state);

const isOpen = (command: Turn & Opening, state: Existing): boolean =>
  isSameTurn(command, state) &&
  command.opening === state.opening &&
  (isWaiting(state) || state.status === "processing");

const isWaiting = (state: Existing): boolean =>
  state.status === "pending" || state.status === "scheduled" || state.status === "retrying";

/** A worker holds it, and has neither ended the attempt nor returned the lease. */
const isLeftBehind = (state: Existing): boolean => state.status === "processing" && !state.isReleased;

const isWornOut = (state: Existing): boolean => isLeftBehind(state) && state.takeovers >= mostTakeovers;

const turnOf = ({ run, attempt }: Turn): Turn => ({ run, attempt });

const hasPassed = (deadline: Instant | null, now: Instant): boolean => deadline !== null && deadline < now;
