import { handleScheduleCommand } from "../../commands/handle-command.ts";
import { readSchedule, type ScheduleVersion } from "../../commands/read-version.ts";
import { isJobEnd } from "../../domain/job/events.ts";
import { isMailingEvent } from "../../domain/mailing/events.ts";
import type { Instant } from "../../domain/message.ts";
import type { Schedule, ScheduleEvent } from "../../domain/schedule/events.ts";
import { nextLook, type Previous } from "../../domain/schedule/tend.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import {
  type Cause,
  isOfSchedule,
  type JobRef,
  keyOf,
  refOf,
  type StoredEvent,
  type WaybillEvent,
} from "../../event-log/event-log.ts";
import type { Ending } from "../../event-log/following/active-process.ts";
import type { Listener } from "../../event-log/following/listener.ts";
import { createLookAgain, type LookAgainPorts, type Tended } from "../../event-log/following/look-again.ts";
import { createSerially } from "../../event-log/following/serially.ts";
import { VersionConflict } from "../../event-log/log-failures.ts";
import { idOfFiring } from "../../intake/derived-job-id.ts";
import { createFairSemaphore } from "../../process/semaphore.ts";
import { nextAfter, timesOf } from "./due-times.ts";
import { endOfMade } from "./end-of-made.ts";
import { cancelDraft } from "./make-mailing.ts";
import { makeThing } from "./make-thing.ts";
import type { Firing, MakingPorts } from "./making.ts";

export type SchedulePorts = MakingPorts & Pick<LookAgainPorts<Tended>, "until" | "report">;

/** An active schedule, as far as this process knows it. */
type Open = Tended & {
  version: ScheduleVersion;
  /** What was made last, once it is known to have ended. */
  over: { readonly madeId: string; readonly endedAt: Instant | null } | null;
};

const atOnce = 500;
/** Those of one tenant leave room for the others. */
const madeAtOnce = 50;
const jobsOfTenant = 25;
/** A mailing takes as long to make as its recipients to copy, and of one tenant a process copies two at a time. */
const mailingsOfTenant = 5;
const takenUpAtOnce = 32;
const tryAgainMs = 500;

/**
 * Fires schedules. First the log names a firing, with the id of what it makes; then that is made, by whoever reads the firing
 * in the log: so each firing happens once, whichever process dies at whichever moment, and however many believe to be the
 * active one. In memory are the active schedules only; the checkpoint names them. Needs no database.
 */
export function createScheduleListener(ports: SchedulePorts): Listener {
  const { log, now } = ports;
  const open = new Map<string, Open>();
  /** By what they have made last. */
  const byMade = new Map<string, Open>();

  const forget = (one: Open): void => {
    open.delete(keyOf(one.ref));
    const madeId = lastOf(one)?.madeId;
    if (madeId !== undefined) byMade.delete(keyOf({ ...one.ref, jobId: madeId }));
  };
  /** Takes a newer state over; an older one, which the log brings later, says nothing. */
  const learn = (one: Open, { state, sequence }: ScheduleVersion): void => {
    if (sequence < one.version.sequence) return;
    forget(one);
    one.version = { state, sequence };
    if (state.status !== "active") return;
    open.set(keyOf(one.ref), one);
    const madeId = lastOf(one)?.madeId;
    if (madeId !== undefined) byMade.set(keyOf({ ...one.ref, jobId: madeId }), one);
  };
  const knownAs = ({ tenant, jobId }: JobRef): Open => {
    const ref = { tenant, jobId };
    const absent: ScheduleVersion = { state: { status: "absent" }, sequence: 0 };
    return open.get(keyOf(ref)) ?? { ref, version: absent, over: null, looksAt: null };
  };
  /** What is done about a schedule is done one after the other. */
  const serially = createSerially();
  const making = {
    job: createFairSemaphore(madeAtOnce, jobsOfTenant),
    mailing: createFairSemaphore(madeAtOnce, mailingsOfTenant),
  };

  const previousOf = async (one: Open): Promise<Previous> => {
    const last = lastOf(one);
    const { state } = one.version;
    if (last === null || last.isFailed || state.status === "absent") return { isOpen: false, endedAt: null };
    if (one.over?.madeId !== last.madeId) {
      const end = await endOfMade(log, { ...one.ref, jobId: last.madeId });
      if (end === null) return { isOpen: true };
      one.over = { madeId: last.madeId, endedAt: end.endedAt };
    }
    return { isOpen: false, endedAt: one.over.endedAt };
  };

  /** Records what is due, until nothing is; then waits for the next time. */
  const tend = async (one: Open, cause: Cause, ending: Ending): Promise<void> => {
    while (one.version.state.status === "active" && !ending.stopping.aborted) {
      const previous = await previousOf(one);
      const idOf = (dueAt: Instant): string => idOfFiring(one.ref, dueAt);
      const command = { type: "TendSchedule", at: now(), timesOf, previous, idOf } as const;
      const outcome = await decide(one, command, cause);
      if (outcome === "conflict") continue;
      if (outcome.length > 0) continue;
      const at = nextLook(one.version.state, previous.isOpen, nextAfter);
      if (at !== null) lookAgain(one, at, ending);
      return;
    }
  };

  /** What was decided about what is not so any more is read anew. */
  const decide = async (
    one: Open,
    command: Parameters<typeof handleScheduleCommand>[2],
    cause: Cause,
  ): Promise<readonly ScheduleEvent[] | "conflict"> => {
    try {
      const options = { from: one.version, maxConflicts: 0 };
      const outcome = await handleScheduleCommand(log, one.ref, command, cause, options);
      if (outcome.outcome === "rejected") throw new Error(`${command.type} was refused: ${outcome.rejection.code}`);
      learn(one, outcome);
      return outcome.events;
    } catch (failure) {
      if (!(failure instanceof VersionConflict)) throw failure;
      const { sequence } = one.version;
      learn(one, await readSchedule(log, one.ref));
      // What was decided only a newer release knows, which does the rest.
      if (one.version.sequence === sequence) throw failure;
      return "conflict";
    }
  };

  const lookAgain = createLookAgain<Open>({
    until: ports.until,
    serially,
    isOpen: (one) => open.get(keyOf(one.ref)) === one,
    tend: async (one, ending) => {
      // Reading it failed when it was taken up.
      if (one.version.sequence === 0) learn(one, await readSchedule(log, one.ref));
      await tend(one, causeOf(one.ref), ending);
    },
    report: ports.report,
  });

  /** Makes what the firing names, unless it is an old one: the next firing is decided once this one was made, or refused. */
  const carryOut = async (one: Open, dueAt: Instant, cause: Cause, { stopping }: Ending): Promise<void> => {
    for (;;) {
      const { state } = one.version;
      if (state.status === "absent" || state.last === null || state.last.dueAt !== dueAt) return;
      const firing: Firing = { ref: one.ref, schedule: state, last: state.last, cause };
      // Also for a job: the schedule may have made mailings when it fired.
      if (state.last.isFailed) return await cancelDraft(ports, firing);
      // A deleted schedule has no template any more; what it had fired before was made, or never will be.
      const made = await making[state.makes].run(one.ref.tenant, async () => {
        stopping.throwIfAborted();
        return await makeThing(ports, firing);
      });
      if (made.outcome === "made") {
        if (made.madeId === state.last.madeId) return;
        await decide(one, { type: "ReplaceMade", at: now(), dueAt, madeId: made.madeId }, cause);
      } else {
        const { code, places } = made;
        await decide(one, { type: "FailFiring", at: now(), dueAt, code, places }, cause);
      }
    }
  };

  /** One that cannot be read, or tended, keeps no other from being taken up. */
  const takeUpOne = async (name: string, ending: Ending): Promise<void> => {
    const one = knownAs(refOf(name));
    await serially(one.ref, async () => {
      learn(one, await readSchedule(log, one.ref));
      await tend(one, causeOf(one.ref), ending);
    }).catch((failure: unknown) => {
      const wasRead = one.version.sequence > 0;
      if (!wasRead && failure instanceof Unavailable) throw failure;
      ports.report(failure);
      if (!wasRead) open.set(keyOf(one.ref), one);
      lookAgain(one, now(), ending);
    });
  };

  return {
    name: "schedules",
    beginAfter: () => 0,
    atOnce,
    tryAgainMs,
    restMs: 20,
    unfinished: {
      name: () => [...open.keys()],
      takeUp: async (names, ending) => {
        open.clear();
        byMade.clear();
        // Many at a time: what comes due and waits for its turn for a minute counts as missed.
        for (let next = 0; next < names.length && !ending.stopping.aborted; next += takenUpAtOnce) {
          await Promise.all(names.slice(next, next + takenUpAtOnce).map((name) => takeUpOne(name, ending)));
        }
      },
    },
    act: (stored, ending) => {
      if (isOfSchedule(stored)) return decided(stored, ending);
      const one = isEnding(stored.event) ? byMade.get(keyOf(stored)) : undefined;
      return one === undefined ? null : serially(one.ref, () => tend(one, causedBy(one.ref, stored), ending));
    },
  };

  function decided(stored: StoredEvent<ScheduleEvent>, ending: Ending): Promise<void> {
    return serially(stored, async () => {
      const one = knownAs(stored);
      // An old event, as after a crash, says nothing new, unless it is the last firing, which may be still to be carried out.
      const isOld = stored.sequence < one.version.sequence;
      const { event } = stored;
      if (isOld && (event.type !== "ScheduleFired" || lastOf(one)?.dueAt !== event.data.dueAt)) return;
      learn(one, { state: event.data.schedule, sequence: stored.sequence });
      const cause = causedBy(one.ref, stored);
      if (event.type === "ScheduleFired") {
        if (one.version.sequence > stored.sequence || one.version.state.status !== "active") {
          learn(one, await readSchedule(log, one.ref));
        }
        await carryOut(one, event.data.dueAt, cause, ending);
      }
      await tend(one, cause, ending);
    });
  }
}

const lastOf = ({ version: { state } }: Open): Schedule["last"] => (state.status === "absent" ? null : state.last);

/** Of a job or a mailing. */
const isEnding = (event: WaybillEvent): boolean =>
  isMailingEvent(event) ? event.type === "MailingCompleted" || event.type === "MailingCancelled" : isJobEnd(event);

const causeOf = ({ jobId }: JobRef): Cause => ({
  actor: `schedule:${jobId}`,
  correlationId: null,
  causationId: null,
  traceparent: null,
});

const causedBy = (ref: JobRef, { id, correlationId, traceparent }: StoredEvent<WaybillEvent>): Cause => ({
  ...causeOf(ref),
  correlationId,
  causationId: id,
  traceparent,
});
