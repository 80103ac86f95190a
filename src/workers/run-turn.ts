import { setTimeout as pause } from "node:timers/promises";
import { type EntryOf, handleCommand } from "../commands/handle-command.ts";
import { foldDecisions, type JobVersion } from "../commands/read-version.ts";
import type { JobCommand } from "../domain/job/commands.ts";
import type { JobEvent, JobType } from "../domain/job/events.ts";
import { countRecipients, emptyLedger, type Ledger } from "../domain/recipients/ledger.ts";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import type { Cause, EventLog, Fact, JobRef, NewEvent } from "../event-log/event-log.ts";
import { isOutage, persistently } from "../event-log/persistently.ts";
import type { TurnDelivery } from "../turns/work-queue.ts";
import { createBookkeeper, type Unwritten } from "./bookkeeper.ts";
import { askFormerWorkers, outwaitFormerWorkers } from "./former-workers.ts";
import { type JobWork, notNow, type PreparedWork, type WorkOfTurn } from "./job-work.ts";
import { answersHoldMs, type Lease, type LeaseProbe, watchLease } from "./lease.ts";
import { patienceOf } from "./patience.ts";
import type { Postpone } from "./postponing.ts";
import type { SharedTurn } from "./shared-turn.ts";
import type { Sharing } from "./sharing.ts";
import { decideUnrivalled, haveProgressed, takeLease } from "./take-lease.ts";
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
  /** Null for a kind of job whose turns are not shared. */
  readonly sharing: Pick<Sharing, "share"> | null;
  /** See createPostponing. */
  readonly postpone: Postpone;
  /** Aborts when the process is to stop. */
  readonly stopping: AbortSignal;
  /** Aborts when the process stops, whatever is left to record. */
  readonly giveUp: AbortSignal;
};

/** How long to wait before looking again at a turn that a live worker is busy with. */
const askAgainMs = 5000;
/** How long to wait before looking again at a turn that is about to end, or whose job was decided about at this moment. */
const lookAgainMs = 500;
/** A job that this worker does not know the kind of, or cannot read, waits for another worker: it is offered again after this, and loses nothing. */
const offerAgainMs = 10_000;

const now = (): string => new Date().toISOString();

/**
 * Does one turn of a job, from the lease to the end of the attempt. A second call for the same turn, or for a turn that is
 * over, does nothing: the log decides what to do.
 */
export async function runTurn(delivery: TurnDelivery, dependencies: TurnDependencies): Promise<void> {
  const { log, probe, worker, stopping, giveUp } = dependencies;
  const { tenant, jobId, run, attempt, opening, cause: opened } = delivery.turn;
  const job: JobRef = { tenant, jobId };
  const decisions = await decisionsBefore(delivery, log, job);
  const before = foldDecisions(decisions);
  const createdAt = decisions[0]?.event.at;
  if (before.state.status === "absent" || createdAt === undefined) return delivery.acknowledge();
  if (before.state.settings.type !== dependencies.type) return delivery.giveBack(offerAgainMs);
  const isFirst = !decisions.some(({ event }) => event.type === "JobStarted");
  // After a pause and a resume the job is open again, though the mails of its last worker are still on their way.
  const mayHaveHelpers = dependencies.sharing !== null && before.state.settings.total > 1;
  const asking = { log, probe, worker, mayHaveHelpers };
  const former = await askFormerWorkers(asking, job, decisions);
  if (former === "at-work") {
    delivery.giveBack(before.state.status === "processing" ? askAgainMs : lookAgainMs);
    return;
  }
  const { id: causationId, ...origin } = opened;
  const cause: Cause = { actor: `worker:${worker}`, ...origin, causationId };
  const { settings } = before.state;
  const prepared = await prepareWork(() => dependencies.prepare(job, settings));
  if (prepared === notNow) {
    const delayMs = dependencies.postpone(delivery.times, delivery.turn);
    return delayMs === null ? delivery.acknowledge() : delivery.giveBack(delayMs);
  }
  // Where this release cannot read them, it learns so before it takes a lease, which left behind would count as a takeover.
  if (!isFirst && !mayHaveHelpers) await log.readRecipients(job);
  const { claims, work } = prepared;
  const claimed = isFirst ? claims : [];
  const taker = { log, job, cause, from: before, stopping, giveUp, claims: claimed };
  const confirmedAt = performance.now();
  const start = { type: "StartJob", run, attempt, opening, worker } as const;
  let started = await takeLease(taker, start, now);
  if (isRefusedAsWornOut(started) && haveProgressed(decisions, await log.readRecipients(job))) {
    started = await takeLease(taker, { ...start, hasProgressed: true }, now);
  }
  if (started === "outrun") {
    const last = (await log.readDecisions(job)).at(-1);
    // What was decided last only a newer release can read, which does the turn.
    return delivery.giveBack(last?.sequence === before.sequence ? offerAgainMs : lookAgainMs);
  }
  if (isRefusedAsWornOut(started)) {
    const counts = countRecipients(await replayLedger(log, job, settings.total, decisions));
    const end = { type: "EndTakeovers", run, attempt, opening, counts, at: now() } as const;
    if ((await decideUnrivalled(taker, end))?.outcome !== "accepted") return delivery.giveBack(lookAgainMs);
  }
  if (started.outcome === "accepted" && started.state.status === "processing") {
    const { state, sequence } = started;
    const readLedger = () => persistently(stopping, () => replayLedger(log, job, settings.total, decisions));
    // A lease that is taken and left behind here is one more takeover: the next worker has to wait as well.
    if (former === "silent") {
      const outwaited = await outwaitFormerWorkers(asking, job, decisions, sequence, stopping);
      if (outwaited === "lease-lost") return;
      if (outwaited === "stopping") return delivery.giveBack(0);
    }
    const readFirst = isFirst ? async () => emptyLedger(settings.total) : readLedger;
    const turn = { run, attempt };
    const held = { job, cause, createdAt, settings, turn, worker, claimed, ...patienceOf(settings, turn, decisions) };
    const lease = { leaseSequence: sequence, confirmedAt, readLedger, help: null };
    const end = await underLease({ ...held, ...lease }, readFirst, { state, sequence }, work, dependencies);
    // The queue keeps a message, but not its owner: acknowledging now would take the message from the worker that holds
    // the turn, and that worker may die. Where no worker holds the turn, the message comes back once and is found to be over.
    if (end === "lost") return;
    if (end === "released") return delivery.giveBack(0);
  }
  delivery.acknowledge();
}

/**
 * A turn that comes for the first time brings the decision that created the job. Whether there is another one since, the log
 * says when the lease is taken.
 */
const decisionsBefore = async ({ turn: { created }, times }: TurnDelivery, log: EventLog, job: JobRef) =>
  created !== null && times === 1 ? [created] : await log.readDecisions(job);

const isRefusedAsWornOut = (started: Awaited<ReturnType<typeof takeLease>>): boolean =>
  started !== "outrun" && started.outcome === "rejected" && started.rejection.code === "too-many-takeovers";

/** A failure that is no outage shows once the lease is taken: the turns that it breaks off are counted. */
async function prepareWork<Prepared>(prepare: () => Promise<Prepared>): Promise<Prepared | PreparedWork> {
  try {
    return await prepare();
  } catch (failure) {
    if (isOutage(failure)) throw failure;
    return { claims: [], work: () => Promise.reject(failure) };
  }
}

/**
 * Works from the lease to the end of the attempt. An exception breaks the turn off, and beginning it anew counts as a
 * takeover. Where the log was away, a helper was lost, or the worker is stopping, the worker gives the lease back first:
 * then it is none.
 */
async function underLease(
  hold: Omit<HeldTurn, "ledger" | "supply">,
  readFirst: () => Promise<Ledger>,
  from: JobVersion,
  work: WorkOfTurn,
  dependencies: TurnDependencies,
): Promise<"over" | "released" | "lost"> {
  let shared: SharedTurn | null = null;
  const giveBack = () => giveLeaseBack(hold, from, dependencies, shared?.hasLost() ?? false);
  try {
    const own = { ...hold, ledger: await readFirst(), supply: null };
    const lease = watchLease(dependencies.log, own, dependencies.giveUp);
    shared = dependencies.sharing?.share(own, lease, dependencies) ?? null;
    const end = await doTurn({ ...own, supply: shared }, lease, shared, from, work, dependencies);
    if (end !== "interrupted") return end;
  } catch (failure) {
    if (isOutage(failure)) await giveBack();
    throw failure;
  }
  return await giveBack();
}

/**
 * Waits for the log as long as the process may live. A lease not given back by then looks like the death of the worker.
 *
 * A helper that was lost may believe in the lease for a moment longer: until that is over, this worker says that it is at
 * the job. It leaves the lease behind where it could not wait for its helpers: the next worker then asks them.
 */
async function giveLeaseBack(
  { job, cause, turn, worker }: Omit<HeldTurn, "ledger" | "supply">,
  from: JobVersion,
  { log, giveUp }: TurnDependencies,
  areHelpersLost: boolean,
): Promise<"released" | "lost"> {
  if (areHelpersLost && giveUp.aborted) return "released";
  const command: JobCommand = { type: "ReleaseJob", ...turn, worker, at: now() };
  try {
    const { outcome } = await persistently(giveUp, () => handleCommand(log, job, command, cause, { from }));
    if (areHelpersLost) await pause(answersHoldMs, undefined, { signal: giveUp }).catch(() => {});
    return outcome === "accepted" ? "released" : "lost";
  } catch (failure) {
    if (!isOutage(failure)) throw failure;
    return "released";
  }
}

async function doTurn(
  held: HeldTurn,
  lease: Lease,
  shared: SharedTurn | null,
  from: JobVersion,
  work: WorkOfTurn,
  dependencies: TurnDependencies,
): Promise<"over" | "interrupted" | "lost"> {
  const { log, unwritten, stopping, giveUp, retrySchedule } = dependencies;
  const books = createBookkeeper(log, held, now, unwritten, { claiming: stopping, giveUp });
  const end = await workTogether(() => work(held, lease, books, stopping), shared)
    // The watch ends before the attempt does: the worker's own decision is no news to it.
    .finally(lease.end);
  if (end.kind === "interrupted") return "interrupted";
  if (end.kind === "lease-lost") return "lost";
  const command = commandFor(end, held, retrySchedule, now());
  // The decision is guarded by the lease: if the lease is lost, the append finds out, and the decisions since are read then.
  const decided = await books.settleWith(async (facts) => {
    const entryOf: EntryOf = (decision) => inFrontOf(decision, facts);
    return await persistently(giveUp, () => handleCommand(log, held.job, command, held.cause, { from, entryOf }));
  });
  // A refusal means that another decision about the job came first, and that decision stands.
  return decided.outcome === "rejected" ? "lost" : "over";
}

/** Until the helpers, where there are any, have ended too. */
async function workTogether<End>(work: () => Promise<End>, shared: SharedTurn | null): Promise<End> {
  try {
    return await work();
  } finally {
    await shared?.end();
  }
}

function inFrontOf(decision: NewEvent<JobEvent>, [first, ...others]: readonly NewEvent<Fact>[]): ReturnType<EntryOf> {
  return first === undefined ? [decision] : [first, ...others, decision];
}
