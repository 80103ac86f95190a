import { type EntryOf, handleCommand } from "../commands/handle-command.ts";
import type { JobVersion } from "../commands/read-version.ts";
import type { JobCommand } from "../domain/job/commands.ts";
import { jobDecider } from "../domain/job/decider.ts";
import type { JobEvent } from "../domain/job/events.ts";
import { mostTakeovers } from "../domain/job/lease.ts";
import type { Instant } from "../domain/message.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import { Unavailable } from "../domain/unavailable.ts";
import type { Cause, EventLog, JobRef, NewEvent, StoredEvent } from "../event-log/event-log.ts";
import { VersionConflict } from "../event-log/log-failures.ts";
import { persistently } from "../event-log/persistently.ts";

/** A worker that received a turn: the state that it decides on, and its name. */
export type Taker = {
  readonly log: EventLog;
  readonly job: JobRef;
  readonly cause: Cause;
  /** The state that the worker has read. */
  readonly from: JobVersion;
  /** Aborts when the process is to stop. */
  readonly stopping: AbortSignal;
  /** Aborts when the process stops, whatever is left to record. */
  readonly giveUp: AbortSignal;
  /** The recipients that are claimed together with the lease. */
  readonly claims: readonly number[];
};

type StartJob = Omit<Extract<JobCommand, { type: "StartJob" }>, "at">;

/**
 * Another decision may come from a worker that received the same turn: this worker must ask that one, and read what it has
 * done, before it takes the job over. So this decides once, on the state that was read, and never again on state that was
 * not.
 *
 * While the log does not answer, the append is repeated: a JobStarted that was stored and whose answer was lost is the lease
 * of this call, and no takeover. A worker that is to stop begins nothing any more, but looks whether it has begun for as
 * long as it may: the claims of a lease that it left behind would be in doubt.
 */
export async function takeLease(taker: Taker, start: StartJob, now: () => Instant) {
  /** Each try has a time of its own: a job may be not to start any more by then. */
  const tries = new Set<Instant>();
  let isUnanswered = false;
  const decide = async () => {
    if (isUnanswered && taker.stopping.aborted) return null;
    const at = now();
    tries.add(at);
    return await decideUnrivalled(taker, { ...start, at });
  };
  const take = async () => (await decide()) ?? (await ownStart(taker, start, tries)) ?? ("outrun" as const);
  // With a full log the turn breaks off: the failure is logged, and other jobs must end before there is room.
  return await persistently(taker.giveUp, take, (failure) => {
    isUnanswered = true;
    return failure instanceof Unavailable;
  });
}

/** Null where another decision came first. */
export async function decideUnrivalled({ log, job, cause, from, claims }: Taker, command: JobCommand) {
  try {
    const entryOf: EntryOf = (decision) => withClaims(decision, claims);
    return await handleCommand(log, job, command, cause, { from, maxConflicts: 0, entryOf });
  } catch (failure) {
    if (failure instanceof VersionConflict) return null;
    throw failure;
  }
}

function withClaims(decision: NewEvent<JobEvent>, recipients: readonly number[]): ReturnType<EntryOf> {
  const { id, event } = decision;
  if (event.type !== "JobStarted" || recipients.length === 0) return [decision];
  const claimed: RecipientEvent = { type: "RecipientsClaimed", at: event.at, data: { ...event.data, recipients } };
  return [decision, { ...decision, id: `${id}/claim`, event: claimed }];
}

/**
 * The JobStarted of this call, if it is the only decision since. One that the same worker took at another time is not: its
 * turn may have got on before it broke off.
 */
async function ownStart({ log, job, from }: Taker, { worker }: StartJob, tries: ReadonlySet<Instant>) {
  const [next, ...others] = (await log.readDecisions(job)).filter(({ sequence }) => sequence > from.sequence);
  const isOwn = next?.event.type === "JobStarted" && next.event.data.worker === worker && tries.has(next.event.at);
  if (!isOwn || others.length > 0) return null;
  const { event, sequence } = next;
  return { outcome: "accepted", events: [event], state: jobDecider.evolve(from.state, event), sequence } as const;
}

/**
 * Whether the last workers that the attempt was taken over from, as many as may be, got further: they recorded outcomes, and
 * each recipient on its way was claimed no more often than that. A worker that was frozen may have claimed it once more
 * under an older lease. So none is mailed more often than the attempt may be begun, however often the job is taken over.
 */
export function haveProgressed(
  decisions: readonly StoredEvent<JobEvent>[],
  recipients: readonly StoredEvent<RecipientEvent>[],
): boolean {
  const since = decisions.filter(({ event }) => event.type === "JobStarted").at(-mostTakeovers)?.sequence ?? 0;
  /** How often each recipient without an outcome was claimed. */
  const claims = new Map<number, number>();
  let lastOutcome = 0;
  for (const { event, sequence } of recipients) {
    if (event.type === "RecipientsClaimed") {
      for (const recipient of event.data.recipients) claims.set(recipient, (claims.get(recipient) ?? 0) + 1);
    } else if (event.type === "RecipientsReleased") {
      for (const recipient of event.data.recipients) claims.delete(recipient);
    } else {
      claims.delete(event.data.recipient);
      lastOutcome = sequence;
    }
  }
  return lastOutcome > since && [...claims.values()].every((times) => times <= mostTakeovers);
}
