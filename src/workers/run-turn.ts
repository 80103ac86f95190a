import { foldDecisions, handleCommand, type JobVersion } from "../commands/handle-command.ts";
import type { JobCommand } from "../domain/job/commands.ts";
import type { JobState } from "../domain/job/decider.ts";
import type { JobEvent, JobQueued, JobType } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import { beginRunInLedger, emptyLedger, type Ledger, recordInLedger } from "../domain/recipients/ledger.ts";
import { delayBeforeAttempt, type RetrySchedule, scheduleOfJob } from "../domain/retry-schedule.ts";
import type { Delivery } from "../event-log/delivery.ts";
import { type Cause, type EventLog, type JobRef, type StoredEvent, VersionConflict } from "../event-log/event-log.ts";
import { persistently } from "../event-log/persistently.ts";
import { type Bookkeeper, createBookkeeper } from "./bookkeeper.ts";
import { type Lease, watchLease } from "./lease.ts";
import type { LeaseProbe } from "./lease-probe.ts";
import type { AttemptEnd, HeldTurn } from "./turn.ts";

export type TurnDependencies = {
  readonly log: EventLog;
  readonly probe: LeaseProbe;
  readonly worker: string;
  /** Which kind of job `work` can do. */
  readonly type: JobType;
  readonly retrySchedule: RetrySchedule;
  readonly work: (held: HeldTurn, lease: Lease, books: Bookkeeper) => Promise<AttemptEnd>;
  /** Aborts when the process is to stop. */
  readonly stopping: AbortSignal;
  /** Aborts when it stops whatever is left to record. */
  readonly giveUp: AbortSignal;
};

type Processing = Extract<JobState, { status: "processing" }>;

/** A turn that another worker is alive and busy with is looked at again after this. */
const askAgainMs = 5000;
/** One that is about to come to its end, or that somebody decided about this very moment, after this. */
const lookAgainMs = 500;
/** One of a kind that this worker does not know is another's to do: it is offered again after this, and loses nothing. */
const offerAgainMs = 10_000;

const now = (): string => new Date().toISOString();

/**
 * Does one turn of a job, from the lease to the end of the attempt. Called twice for the same turn, or for one that is
 * over, it does nothing the second time: what to do is decided from the log.
 */
export async function runTurn(delivery: Delivery<JobQueued>, dependencies: TurnDependencies): Promise<void> {
  const { log, probe, worker } = dependencies;
  const { entry } = delivery;
  const job: JobRef = { tenant: entry.tenant, jobId: entry.jobId };
  const decisions = await log.readDecisions(job);
  const before = foldDecisions(decisions);
  if (before.state.status !== "absent" && before.state.settings.type !== dependencies.type) {
    delivery.giveBack(offerAgainMs);
    return;
  }
  const last = lastWorker(decisions);
  // Paused and resumed, a job is open again while the mails of its last worker are still on their way.
  if (last !== null && last !== worker && (await probe.isRunning(last, job))) {
    delivery.giveBack(before.state.status === "processing" ? askAgainMs : lookAgainMs);
    return;
  }
  const { run, attempt, opening } = entry.event.data;
  const { correlationId, traceparent } = entry;
  const cause: Cause = { actor: `worker:${worker}`, correlationId, causationId: entry.id, traceparent };
  const start: JobCommand = { type: "StartJob", run, attempt, opening, worker, at: now() };
  const started = await startUnrivalled(log, job, start, cause, before);
  if (started === "outrun") {
    delivery.giveBack(lookAgainMs);
    return;
  }
  if (started.outcome === "accepted" && started.state.status === "processing") {
    const lease: JobVersion = { state: started.state, sequence: started.sequence };
    const ledger = await replayLedger(log, job, started.state.settings.total, last === null ? null : decisions);
    const held = takeHold(job, createdAtOf(decisions), started.state, started.sequence, ledger, cause);
    const end = await doTurn(held, lease, dependencies);
    // The queue keeps a message, not who has it: to acknowledge it now would take it from whoever holds the turn, who
    // may die. Where nobody does, it comes back once and is found to be over.
    if (end === "lost") return;
    if (end === "interrupted") {
      delivery.giveBack(0);
      return;
    }
  }
  delivery.acknowledge();
}

/**
 * Who decided meanwhile may be a worker that was handed the same turn: it is to be asked, and what it has done to be
 * read, before anybody takes the job from it. So this is decided once, on what was looked at, and never again unseen.
 */
async function startUnrivalled(log: EventLog, job: JobRef, start: JobCommand, cause: Cause, from: JobVersion) {
  try {
    return await handleCommand(log, job, start, cause, { from, maxConflicts: 0 });
  } catch (failure) {
    if (failure instanceof VersionConflict) return "outrun";
    throw failure;
  }
}

/** Who began the last attempt of the job, whatever became of it. */
function lastWorker(decisions: readonly StoredEvent<JobEvent>[]): string | null {
  const started = decisions.findLast(({ event }) => event.type === "JobStarted")?.event;
  return started?.type === "JobStarted" ? started.data.worker : null;
}

function createdAtOf([created]: readonly StoredEvent<JobEvent>[]): Instant {
  if (created === undefined) throw new Error("A job that nobody created has a turn.");
  return created.event.at;
}

const takeHold = (
  job: JobRef,
  createdAt: Instant,
  { run, attempt, settings, worker }: Processing,
  leaseSequence: number,
  ledger: Ledger,
  cause: Cause,
): HeldTurn => ({
  job,
  createdAt,
  turn: { run, attempt },
  settings,
  worker,
  leaseSequence,
  cause,
  ledger,
  isLastAttempt: attempt >= settings.maxAttempts,
});

/**
 * What happened to the recipients so far, with the retries by hand in between, in the order of the log. `decisions`
 * are those before the lease, which is guarded by the last of them; null for a job that nobody has ever held.
 */
async function replayLedger(
  log: EventLog,
  job: JobRef,
  total: number,
  decisions: readonly StoredEvent<JobEvent>[] | null,
): Promise<Ledger> {
  const ledger = emptyLedger(total);
  if (decisions === null) return ledger;
  const retries = decisions.filter(({ event }) => event.type === "JobRetried");
  const history: StoredEvent[] = [...retries, ...(await log.readRecipients(job))];
  for (const { event } of history.sort((one, other) => one.sequence - other.sequence)) {
    if (event.type === "JobRetried") beginRunInLedger(ledger, event);
    else recordInLedger(ledger, event as Parameters<typeof recordInLedger>[1]);
  }
  return ledger;
}

async function doTurn(
  held: HeldTurn,
  from: JobVersion,
  dependencies: TurnDependencies,
): Promise<"over" | "interrupted" | "lost"> {
  const { log, work, stopping, giveUp, retrySchedule } = dependencies;
  const lease = watchLease(log, held.job, held.leaseSequence, stopping);
  // Over before the attempt is ended: what this worker decides itself is no news to it.
  const end = await work(held, lease, createBookkeeper(log, held, now, stopping, giveUp)).finally(lease.end);
  if (end.kind === "interrupted") return "interrupted";
  if (end.kind === "lease-lost") return "lost";
  const command = commandFor(end, held, retrySchedule);
  // Decided on the lease itself: if it is lost, the append finds out, and what was decided since is read then.
  const { outcome } = await persistently(giveUp, () => handleCommand(log, held.job, command, held.cause, { from }));
  // Refused means that somebody decided about the job meanwhile, and that stands.
  return outcome === "accepted" ? "over" : "lost";
}

type Ended = Exclude<AttemptEnd, { kind: "interrupted" | "lease-lost" }>;

function commandFor(end: Ended, held: HeldTurn, schedule: RetrySchedule) {
  const said = { ...held.turn, worker: held.worker, at: now() };
  switch (end.kind) {
    case "completed":
      return { type: "CompleteJob", ...said, counts: end.counts } as const;
    case "failed":
      return { type: "FailJob", ...said, counts: end.counts, error: end.error } as const;
    case "try-again": {
      const delayMs = delayBeforeAttempt(
        held.turn.attempt + 1,
        scheduleOfJob(schedule, held.settings.retryDelayMs),
        Math.random(),
      );
      const nextAttemptAt = new Date(Date.now() + Math.max(delayMs, end.notBeforeMs ?? 0)).toISOString();
      return { type: "ScheduleRetry", ...said, counts: end.counts, error: end.error, nextAttemptAt } as const;
    }
  }
}
