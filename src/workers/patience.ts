import type { JobEvent, JobSettings, RecipientCounts, Turn } from "../domain/job/events.ts";
import type { Instant } from "../domain/message.ts";
import type { StoredEvent } from "../event-log/event-log.ts";

/** How long the recipients of an attempt may be deferred, and may wait, given the attempts of its run before. */
export type Patience = {
  /** Whether the job has no other attempt after this one, but perhaps for deferred recipients. */
  readonly isLastAttempt: boolean;
  /** Until when deferred recipients are tried again; null where that is as long as the job has attempts. */
  readonly deferredUntil: Instant | null;
  /** How many attempts of this run ended only because receivers had asked for patience: they count for none. */
  readonly putOff: number;
  /** Until when recipients wait for receivers that have asked for patience. */
  readonly putOffUntil: Instant;
};

/** Why an attempt ended that is to be continued when receivers that asked for patience have room. */
export const waitingForReceivers = "receivers-throttled";

const leastReturnMs = 2000;
/** A job that returns again and again returns less often: each time adds decisions to its history, for up to three days. */
const leastReturnMsPerReturn = 1000;
const longestLeastReturnMs = 60_000;
const longestReturnMs = 900_000;
/** Every attempt reads what became of all recipients: a large job returns less often. */
const returnMsPerRecipient = 0.1;
/** Deferred recipients do not hold back for longer those that only wait. */
const longestForDeferredMs = 60_000;

const firstPauseForDeferredMs = 10;

/**
 * Between attempts for deferred recipients, the next of which is `attempt`, where the schedule has no pause or a short one:
 * they may go on for days, and each adds decisions to the history of the job.
 */
export const leastPauseForDeferred = (attempt: number): number =>
  Math.min(longestLeastReturnMs, firstPauseForDeferredMs * 2 ** (attempt - 2));

/** When the job returns to recipients that wait: not before the first has room, and the less often the more often it did. */
export function delayForWaiting(
  { total, deferred }: RecipientCounts,
  returns: number,
  returnInMs: number,
  usualMs: number,
): number {
  const oftenMs = Math.min(longestLeastReturnMs, returns * leastReturnMsPerReturn);
  const leastMs = Math.max(leastReturnMs, oftenMs, total * returnMsPerRecipient);
  const forDeferredMs = deferred > 0 ? Math.min(usualMs, longestForDeferredMs) : 0;
  return Math.min(Math.max(returnInMs, leastMs, forDeferredMs), longestReturnMs);
}

/**
 * The last try comes when the time is up. Where the clocks of two workers differ it may come before, and then another one
 * after a moment.
 */
export function timeOfNextAttempt(nowMs: number, delayMs: number, until: Instant | null): Instant {
  const latestMs = until === null ? Number.POSITIVE_INFINITY : Math.max(Date.parse(until), nowMs + leastDelayMs);
  return new Date(Math.min(nowMs + delayMs, latestMs)).toISOString();
}

const leastDelayMs = 1000;

/** Until when the deferred recipients of a run are tried again; null where that is as long as the job has attempts. */
function deferredUntil(
  { deferForMs = null }: JobSettings,
  run: number,
  decisions: readonly StoredEvent<JobEvent>[],
): Instant | null {
  if (deferForMs === null) return null;
  return new Date(patienceBegan(run, decisions) + deferForMs + putOffIn(run, decisions).forMs).toISOString();
}

/**
 * The beginning of the run, later by as long as it was paused: of a job that was paused for a day most recipients were never
 * tried, and one that is deferred at its first try then has all of its patience.
 */
function patienceBegan(run: number, decisions: readonly StoredEvent<JobEvent>[]): number {
  const start = decisions.findIndex(({ event }) => event.type === "JobStarted" && event.data.run === run);
  let began = Date.parse(decisions[start]?.event.at ?? new Date().toISOString());
  let pausedAt: number | null = null;
  for (const { event } of start === -1 ? [] : decisions.slice(start)) {
    if (event.type === "JobPaused") pausedAt = Date.parse(event.at);
    if (event.type !== "JobResumed" || pausedAt === null) continue;
    began += Math.max(0, Date.parse(event.at) - pausedAt);
    pausedAt = null;
  }
  return began;
}

/** How often, and for how long altogether, recipients of a run waited because receivers had asked for patience. */
function putOffIn(run: number, decisions: readonly StoredEvent<JobEvent>[]) {
  const waits = decisions.flatMap(({ event: { type, at, data } }) => {
    if (type !== "JobRetryScheduled" || data.run !== run || data.error.code !== waitingForReceivers) return [];
    return [Math.max(0, Date.parse(data.nextAttemptAt) - Date.parse(at))];
  });
  return { times: waits.length, forMs: waits.reduce((sum, forMs) => sum + forMs, 0) };
}

/** A receiver that takes nothing for this time, and for as long as deferred recipients are tried, ends the wait for it. */
const longestWaitMs = 72 * 60 * 60 * 1000;

/** `decisions` are those before the lease. */
export function patienceOf(settings: JobSettings, turn: Turn, decisions: readonly StoredEvent<JobEvent>[]): Patience {
  const { run, attempt } = turn;
  const putOff = putOffIn(run, decisions).times;
  const longestMs = Math.max(longestWaitMs, settings.deferForMs ?? 0);
  return {
    isLastAttempt: attempt - putOff >= settings.maxAttempts,
    deferredUntil: deferredUntil(settings, run, decisions),
    putOff,
    putOffUntil: new Date(patienceBegan(run, decisions) + longestMs).toISOString(),
  };
}

/** Whether a recipient that is deferred at this moment is tried again. */
export const mayBeDeferred = ({ deferredUntil: until, isLastAttempt }: Patience): boolean =>
  until === null ? !isLastAttempt : Date.now() < Date.parse(until);

/** Whether recipients may wait for longer that were not tried. */
export const mayBePutOff = ({ putOffUntil }: Patience): boolean => Date.now() < Date.parse(putOffUntil);
