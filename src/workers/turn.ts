import type { JobError, JobEvent, JobSettings, RecipientCounts, Turn } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import {
  beginRunInLedger,
  countRecipients,
  emptyLedger,
  hasTooManyFailures,
  type Ledger,
  recordInLedger,
} from "../domain/recipients/ledger.ts";
import { delayBeforeAttempt, type RetrySchedule, scheduleOfJob } from "../domain/retry-schedule.ts";
import type { Cause, EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";
import {
  delayForWaiting,
  leastPauseForDeferred,
  type Patience,
  timeOfNextAttempt,
  waitingForReceivers,
} from "./patience.ts";
import type { Supply } from "./supply.ts";

/** The state that a worker holds while it does one attempt of a job. */
export type HeldTurn = Patience & {
  readonly job: JobRef;
  readonly turn: Turn;
  readonly settings: JobSettings;
  readonly createdAt: Instant;
  readonly worker: string;
  /** The sequence of the JobStarted that is the lease: any later decision about the job ends it. */
  readonly leaseSequence: number;
  readonly cause: Cause;
  /** The earlier outcomes of the recipients, folded up to the lease. The worker of the turn goes on folding. */
  readonly ledger: Ledger;
  /** By the monotonic clock, before the append of the JobStarted: what was read for the turn is from no earlier time. */
  readonly confirmedAt: number;
  /** Folds what the log has by now. Throws Unavailable. */
  readonly readLedger: () => Promise<Ledger>;
  /** The recipients that were claimed together with the lease. The ledger counts them as not yet tried. */
  readonly claimed: readonly number[];
  /** How recipients come from the holder of the lease to its helpers; null where the worker has none. */
  readonly supply: Supply | null;
  /** Names the help of a worker that is not the holder of the lease, in the ids of its events; null for the holder. */
  readonly help: string | null;
};

/** How an attempt ended, as a closed set of cases. */
export type AttemptEnd =
  | { readonly kind: "completed"; readonly counts: RecipientCounts }
  /** Final: no other attempt would end better. */
  | { readonly kind: "failed"; readonly counts: RecipientCounts; readonly error: JobError }
  /** The schedule decides whether and when there is another attempt. */
  | {
      readonly kind: "try-again";
      readonly counts: RecipientCounts;
      readonly error: JobError;
      /** The time for which a receiver asked not to be tried again; the schedule may set a later time. */
      readonly notBeforeMs?: number;
      /** Until when deferred recipients are tried, where nothing else is left to do. */
      readonly deferredUntil?: Instant | null;
      /** When the next recipient may be tried whose receiver has asked for patience. The attempt then counts for none. */
      readonly returnInMs?: number;
    }
  /** Another decision about the job came first: another worker has it, or it is paused or cancelled. */
  | { readonly kind: "lease-lost" }
  /** This process is stopping, or a helper was lost; another lease continues where the log ends. */
  | { readonly kind: "interrupted" };

/** The facts about an attempt besides its ledger. */
export type Tried = {
  /** The longest time for which a recipient asked to be left alone. */
  readonly notBeforeMs: () => number;
};

/** How the attempt ends after each recipient that was to be served has been tried. */
export function endOfAttempt({ ledger, deferredUntil }: HeldTurn, { notBeforeMs }: Tried): AttemptEnd {
  const counts = countRecipients(ledger);
  if (counts.deferred > 0) {
    const message = `${counts.deferred} of ${counts.total} recipients are to be tried again.`;
    const error = { code: "recipients-deferred", message };
    return { kind: "try-again", counts, error, notBeforeMs: notBeforeMs(), deferredUntil };
  }
  if (hasTooManyFailures(counts)) {
    const message = `${counts.failed} of ${counts.total} recipients failed, more than half.`;
    return { kind: "failed", counts, error: { code: "too-many-failures", message } };
  }
  return { kind: "completed", counts };
}

/** How the attempt ends where recipients wait that were not tried. */
export function endWithWaiting(
  { ledger, deferredUntil }: HeldTurn,
  waiting: number,
  returnInMs: number,
  { notBeforeMs }: Tried,
): AttemptEnd {
  const counts = countRecipients(ledger);
  const message = `${waiting} of ${counts.total} recipients wait, as their mail servers have asked for patience.`;
  const error = { code: waitingForReceivers, message };
  return { kind: "try-again", counts, error, notBeforeMs: notBeforeMs(), deferredUntil, returnInMs };
}

type Ended = Exclude<AttemptEnd, { kind: "interrupted" | "lease-lost" }>;

/** What the worker decides at the end of its attempt; the schedule says when the next attempt is. */
export function commandFor(end: Ended, held: HeldTurn, schedule: RetrySchedule, at: Instant) {
  const said = { ...held.turn, worker: held.worker, at };
  switch (end.kind) {
    case "completed":
      return { type: "CompleteJob", ...said, counts: end.counts } as const;
    case "failed":
      return { type: "FailJob", ...said, counts: end.counts, error: end.error } as const;
    case "try-again": {
      const ownSchedule = scheduleOfJob(schedule, held.settings.retryDelayMs);
      const { counts, error, notBeforeMs = 0, deferredUntil = null, returnInMs = null } = end;
      const nextAttempt = held.turn.attempt - held.putOff + 1;
      const scheduledMs = delayBeforeAttempt(nextAttempt, ownSchedule, Math.random());
      const leastMs = deferredUntil === null ? 0 : leastPauseForDeferred(nextAttempt);
      const usualMs = Math.max(scheduledMs, notBeforeMs, leastMs);
      const delayMs = returnInMs === null ? usualMs : delayForWaiting(counts, held.putOff, returnInMs, usualMs);
      const nextAttemptAt = timeOfNextAttempt(Date.now(), delayMs, returnInMs === null ? deferredUntil : null);
      const isForDeferred = deferredUntil !== null || returnInMs !== null;
      return { type: "ScheduleRetry", ...said, counts, error, nextAttemptAt, isForDeferred } as const;
    }
  }
}

/**
 * The outcomes of the recipients so far, with the retries by hand in between, in the order of the log. `decisions` are the
 * decisions before the lease, which is guarded by the last of them.
 */
export async function replayLedger(
  log: Pick<EventLog, "readRecipients">,
  job: JobRef,
  total: number,
  decisions: readonly StoredEvent<JobEvent>[],
): Promise<Ledger> {
  const ledger = emptyLedger(total);
  const retries = decisions.filter(({ event }) => event.type === "JobRetried");
  const history: StoredEvent[] = [...retries, ...(await log.readRecipients(job))];
  for (const { event } of history.sort((one, other) => one.sequence - other.sequence)) {
    if (event.type === "JobRetried") beginRunInLedger(ledger, event);
    else recordInLedger(ledger, event as Parameters<typeof recordInLedger>[1]);
  }
  return ledger;
}
