import { type EntryOf, foldDecisions, handleCommand, type JobVersion } from "../commands/handle-command.ts";
import type { JobCommand } from "../domain/job/commands.ts";
import type { JobEvent, JobSettings, JobType } from "../domain/job/events.ts";
import type { JobState } from "../domain/job/state.ts";
import type { Instant } from "../domain/message.ts";
import { countRecipients } from "../domain/recipients/ledger.ts";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import type { Cause, EventLog, Fact, JobRef, NewEvent, StoredEvent } from "../event-log/event-log.ts";
import { isOutage, persistently } from "../event-log/persistently.ts";
import type { TurnDelivery } from "../turns/work-queue.ts";
import { createBookkeeper, type Unwritten } from "./bookkeeper.ts";
import type { JobWork, PreparedWork, WorkOfTurn } from "./job-work.ts";
import { type LeaseProbe, watchLease } from "./lease.ts";
import { endTakeovers, haveProgressed, lastWorker, takeLease } from "./take-lease.ts";
import { commandFor, type HeldTurn, replayLedger } from "./turn.ts";

export type TurnDependencies = {
  readonly log: EventLog;
  readonly probe: LeaseProbe;
  readonly worker: string;
  /** The kind of job that `work` can do. */
  readonly type: JobType;
  readonly retrySchedule: RetrySchedule;
  /** Shared by the turns of the process. */
  readonly unwritten: Unwritten;
  readonly prepare: JobWork["prepare"];
  /** Aborts when the process is to stop. */
  readonly stopping: AbortSignal;
  /** Aborts when the process stops, whatever is left to record. */
  readonly giveUp: AbortSignal;
};

type Processing = Extract<JobState, { status: "processing" }>;

/** How long to wait before looking again at a turn that a live worker is busy with. */
const askAgainMs = 5000;
/** How long to wait before looking again at a turn that is about to end, or whose job was decided about at this moment. */
const lookAgainMs = 500;
/** A job of a kind that this worker does not know waits for another worker: it is offered again after this, and loses nothing. */
const offerAgainMs = 10_000;

const now = (): string => new Date().toISOString();

/**
 * Does one turn of a job, from the lease to the end of the attempt. A second call for the same turn, or for a turn that is
 * over, does nothing: the log decides what to do.
 */
export async function runTurn(delivery: TurnDelivery, dependencies: TurnDependencies): Promise<void> {
  const { log, probe, worker, stopping } = dependencies;
  const { tenant, jobId, run, attempt, opening, cause: opened } = delivery.turn;
  const job: JobRef = { tenant, jobId };
  const decisions = await log.readDecisions(job);
  const before = foldDecisions(decisions);
  if (before.state.status === "absent") return delivery.acknowledge();
  if (before.state.settings.type !== dependencies.type) return delivery.giveBack(offerAgainMs);
  const last = lastWorker(decisions);
  // After a pause and a resume the job is open again, though the mails of its last worker are still on their way.
  if (last !== null && last !== worker && (await probe.isRunning(last, job))) {
    delivery.giveBack(before.state.status === "processing" ? askAgainMs : lookAgainMs);
    return;
  }
  const { id: causationId, ...origin } = opened;
  const cause: Cause = { actor: `worker:${worker}`, ...origin, causationId };
  const { settings } = before.state;
  const { claims, work } = await prepareWork(job, settings, dependencies);
  const claimed = last === null ? claims : [];
  const taker = { log, job, cause, from: before, stopping, claims: claimed };
  const confirmedAt = performance.now();
  const start = { type: "StartJob", run, attempt, opening, worker, at: now() } as const;
  let started = await takeLease(taker, start);
  if (isRefusedAsWornOut(started) && haveProgressed(decisions, await log.readRecipients(job))) {
    started = await takeLease(taker, { ...start, hasProgressed: true });
  }
  if (started === "outrun") return delivery.giveBack(lookAgainMs);
  if (isRefusedAsWornOut(started)) {
    const counts = countRecipients(await replayLedger(log, job, settings.total, decisions));
    const hasEnded = await endTakeovers(taker, { type: "EndTakeovers", run, attempt, opening, counts, at: now() });
    if (!hasEnded) return delivery.giveBack(lookAgainMs);
  }
  if (started.outcome === "accepted" && started.state.status === "processing") {
    const { state, sequence } = started;
    const hold = { job, cause, createdAt: createdAtOf(decisions), state, sequence, confirmedAt, claimed };
    const end = await underLease(hold, last === null ? null : decisions, work, dependencies);
    // The queue keeps a message, but not its owner: acknowledging now would take the message from the worker that holds
    // the turn, and that worker may die. Where no worker holds the turn, the message comes back once and is found to be over.
    if (end === "lost") return;
    if (end === "released") return delivery.giveBack(0);
  }
  delivery.acknowledge();
}

const isRefusedAsWornOut = (started: Awaited<ReturnType<typeof takeLease>>): boolean =>
  started !== "outrun" && started.outcome === "rejected" && started.rejection.code === "too-many-takeovers";

/** A failure that is no outage shows once the lease is taken: the turns that it breaks off are counted. */
async function prepareWork(
  job: JobRef,
  settings: JobSettings,
  { prepare }: Pick<TurnDependencies, "prepare">,
): Promise<PreparedWork> {
  try {
    return await prepare(job, settings);
  } catch (failure) {
    if (isOutage(failure)) throw failure;
    return { claims: [], work: () => Promise.reject(failure) };
  }
}

type Hold = Pick<HeldTurn, "job" | "cause" | "createdAt" | "claimed" | "confirmedAt"> & {
  readonly state: Processing;
  readonly sequence: number;
};

/**
 * Works from the lease to the end of the attempt. An exception breaks the turn off, and beginning it anew counts as a
 * takeover. Where the log was away, or the worker is stopping, the worker gives the lease back first: then it is none.
 */
async function underLease(
  hold: Hold,
  decisions: readonly StoredEvent<JobEvent>[] | null,
  work: WorkOfTurn,
  dependencies: TurnDependencies,
): Promise<"over" | "released" | "lost"> {
  const { log, stopping } = dependencies;
  try {
    const readLedger = () =>
      persistently(stopping, () => replayLedger(log, hold.job, hold.state.settings.total, decisions));
    const held = takeHold(hold, { ledger: await readLedger(), readLedger });
    const end = await doTurn(held, hold, work, dependencies);
    if (end !== "interrupted") return end;
  } catch (failure) {
    if (isOutage(failure)) await giveLeaseBack(hold, dependencies);
    throw failure;
  }
  return await giveLeaseBack(hold, dependencies);
}

/** Waits for the log as long as the process may live. A lease not given back by then looks like the death of the worker. */
async function giveLeaseBack(
  { job, cause, state, sequence }: Hold,
  { log, giveUp }: TurnDependencies,
): Promise<"released" | "lost"> {
  const { run, attempt, worker } = state;
  const command: JobCommand = { type: "ReleaseJob", run, attempt, worker, at: now() };
  try {
    const from = { state, sequence };
    const { outcome } = await persistently(giveUp, () => handleCommand(log, job, command, cause, { from }));
    return outcome === "accepted" ? "released" : "lost";
  } catch (failure) {
    if (!isOutage(failure)) throw failure;
    return "released";
  }
}

function createdAtOf([created]: readonly StoredEvent<JobEvent>[]): Instant {
  if (created === undefined) throw new Error("A job that was never created has a turn.");
  return created.event.at;
}

const takeHold = ({ state, sequence, ...hold }: Hold, ledgers: Pick<HeldTurn, "ledger" | "readLedger">): HeldTurn => ({
  ...hold,
  ...ledgers,
  turn: { run: state.run, attempt: state.attempt },
  settings: state.settings,
  worker: state.worker,
  leaseSequence: sequence,
  isLastAttempt: state.attempt >= state.settings.maxAttempts,
});

async function doTurn(
  held: HeldTurn,
  from: JobVersion & Pick<Hold, "confirmedAt">,
  work: WorkOfTurn,
  dependencies: TurnDependencies,
): Promise<"over" | "interrupted" | "lost"> {
  const { log, unwritten, stopping, giveUp, retrySchedule } = dependencies;
  const lease = watchLease(log, held.job, from, stopping);
  // The watch ends before the attempt does: the worker's own decision is no news to it.
  const books = createBookkeeper(log, held, now, unwritten, { claiming: stopping, giveUp });
  const end = await work(held, lease, books, { stopping }).finally(lease.end);
  if (end.kind === "interrupted") return "interrupted";
  if (end.kind === "lease-lost") return "lost";
  const command = commandFor(end, held, retrySchedule, now());
  // The decision is guarded by the lease: if the lease is lost, the append finds out, and the decisions since are read then.
  return await books.settleWith(async (facts) => {
    const entryOf: EntryOf = (decision) => inFrontOf(decision, facts);
    const decided = await persistently(giveUp, () =>
      handleCommand(log, held.job, command, held.cause, { from, entryOf }),
    );
    // A refusal means that another decision about the job came first, and that decision stands.
    if (decided.outcome === "rejected") return { result: "lost", stored: false };
    return { result: "over", stored: decided.events.length > 0 };
  });
}

function inFrontOf(decision: NewEvent<JobEvent>, [first, ...others]: readonly NewEvent<Fact>[]): ReturnType<EntryOf> {
  return first === undefined ? [decision] : [first, ...others, decision];
}
