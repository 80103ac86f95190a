import { readSchedule } from "../../commands/read-version.ts";
import { isJobEnd } from "../../domain/job/events.ts";
import { isMailingEvent } from "../../domain/mailing/events.ts";
import type { Instant } from "../../domain/message.ts";
import type { ScheduleEvent } from "../../domain/schedule/events.ts";
import {
  type Cause,
  isOfSchedule,
  type JobRef,
  type StoredEvent,
  type WaybillEvent,
} from "../../event-log/event-log.ts";
import type { Ending } from "../../event-log/following/active-process.ts";
import type { Listener } from "../../event-log/following/listener.ts";
import { createSerially } from "../../event-log/following/serially.ts";
import { createFairSemaphore } from "../../process/semaphore.ts";
import { cancelDraft } from "./make-mailing.ts";
import { makeThing } from "./make-thing.ts";
import type { Firing } from "./making.ts";
import { createOpenSchedules, lastOf, type OpenSchedule } from "./open-schedules.ts";
import { causeOf, createScheduleTending, type SchedulePorts } from "./tend-schedules.ts";

const atOnce = 500;
/** Those of one tenant leave room for the others. */
const madeAtOnce = 50;
const jobsOfTenant = 25;
/** A mailing takes as long to make as its recipients to copy, and of one tenant a process copies two at a time. */
const mailingsOfTenant = 5;
const tryAgainMs = 500;

/**
 * Fires schedules. First the log names a firing, with the id of what it makes; then that is made, by whoever reads the firing
 * in the log: so each firing happens once, whichever process dies at whichever moment, and however many believe to be the
 * active one. In memory are the active schedules only; the checkpoint names them. Needs no database.
 */
export function createScheduleListener(ports: SchedulePorts): Listener {
  const { log, now } = ports;
  const open = createOpenSchedules();
  const serially = createSerially();
  const { tend, decide, takeUp } = createScheduleTending(ports, open, serially);
  const making = {
    job: createFairSemaphore(madeAtOnce, jobsOfTenant),
    mailing: createFairSemaphore(madeAtOnce, mailingsOfTenant),
  };

  return {
    name: "schedules",
    beginAfter: () => 0,
    atOnce,
    tryAgainMs,
    restMs: 20,
    unfinished: { name: open.names, takeUp },
    act: (stored, ending) => {
      if (isOfSchedule(stored)) return decided(stored, ending);
      const one = isEnding(stored.event) ? open.thatMade(stored) : undefined;
      return one === undefined ? null : serially(one.ref, () => tend(one, causedBy(one.ref, stored), ending));
    },
  };

  function decided(stored: StoredEvent<ScheduleEvent>, ending: Ending): Promise<void> {
    return serially(stored, async () => {
      const one = open.knownAs(stored);
      // An old event, as after a crash, says nothing new, unless it is the last firing, which may be still to be carried out.
      const isOld = stored.sequence < one.version.sequence;
      const { event } = stored;
      if (isOld && (event.type !== "ScheduleFired" || lastOf(one)?.dueAt !== event.data.dueAt)) return;
      open.learn(one, { state: event.data.schedule, sequence: stored.sequence });
      const cause = causedBy(one.ref, stored);
      if (event.type === "ScheduleFired") {
        if (one.version.sequence > stored.sequence || one.version.state.status !== "active") {
          open.learn(one, await readSchedule(log, one.ref));
        }
        await carryOut(one, event.data.dueAt, cause, ending);
      }
      await tend(one, cause, ending);
    });
  }

  /** Makes what the firing names, unless it is an old one: the next firing is decided once this one was made, or refused. */
  async function carryOut(one: OpenSchedule, dueAt: Instant, cause: Cause, { stopping }: Ending): Promise<void> {
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
  }
}

/** Of a job or a mailing. */
const isEnding = (event: WaybillEvent): boolean =>
  isMailingEvent(event) ? event.type === "MailingCompleted" || event.type === "MailingCancelled" : isJobEnd(event);

const causedBy = (ref: JobRef, { id, correlationId, traceparent }: StoredEvent<WaybillEvent>): Cause => ({
  ...causeOf(ref),
  correlationId,
  causationId: id,
  traceparent,
});
