import type { AlertEvent } from "../domain/alerts/events.ts";
import { isWholeErasure } from "../domain/job/job-view.ts";
import type { MailingEvent } from "../domain/mailing/events.ts";
import type { Instant } from "../domain/message.ts";
import type { ScheduleEvent } from "../domain/schedule/events.ts";
import {
  isOfJob,
  isOfMailing,
  isOfSchedule,
  type JobRef,
  type LogEvent,
  type StoredEvent,
  type UnknownEvent,
} from "../event-log/event-log.ts";

/** What is not over yet, and so holds back every cut after its first entry. */
export type HeldBack = {
  /** Null for what is no job. */
  readonly job: JobRef | null;
  readonly why: string;
  readonly since: Instant | null;
  /** The first entry that is needed. */
  readonly sequence: number;
};

type Open = HeldBack & { readonly hasEnded: boolean; readonly isErased: boolean };
type TypeOfJob = StoredEvent["event"]["type"];

/** After these events a job is not over, until one of the others comes. */
const whyOpen: ReadonlyMap<TypeOfJob, string> = new Map([
  ["JobCreated", "it has not ended"],
  ["JobRetried", "it has not ended"],
  ["JobResumed", "it has not ended"],
  ["JobPaused", "it is paused"],
  ["JobFailed", "its dead letter is open"],
]);
/** The same of a mailing: a draft has not ended either. */
const whyMailingIsOpen: ReadonlyMap<MailingEvent["type"], string> = new Map([
  ["MailingCreated", "it is a draft"],
  ["MailingStarted", "it has not ended"],
  ["MailingRetried", "it has not ended"],
  ["MailingApprovalRequested", "it awaits approval"],
  ["MailingRejected", "it is a draft"],
  ["MailingUndone", "it is a draft"],
  ["MailingResumed", "it has not ended"],
  ["MailingPaused", "it is paused"],
]);
const ends: ReadonlySet<TypeOfJob> = new Set(["JobCompleted", "JobCancelled", "JobRequeued", "DeadLetterIgnored"]);

/**
 * Follows the whole log, and knows at its end what is still open of what began up to `upTo`. In memory is only what is open
 * at a time. A job that is opened again after it was over is given the sequence 0: where it began has to be looked up.
 */
export function createOpenJobs(upTo: number, areErased: boolean) {
  const open = new Map<string, Open>();
  const alerts = new Map<string, HeldBack>();
  const unknown: HeldBack[] = [];

  const settle = (name: string, one: Open): void => {
    if (one.hasEnded && (one.isErased || !areErased)) open.delete(name);
    else open.set(name, one.hasEnded ? { ...one, why: "RETENTION_DAYS has not erased its content yet" } : one);
  };
  const takeDecision = ({ tenant, jobId, sequence, event }: StoredEvent): void => {
    const name = `${tenant}/${jobId}`;
    const known = open.get(name);
    const why = whyOpen.get(event.type);
    if (why !== undefined) {
      const isAgain = event.type === "JobRetried";
      if (known === undefined && !isAgain && (event.type !== "JobCreated" || sequence > upTo)) return;
      const one = known ?? { job: { tenant, jobId }, sequence: isAgain ? 0 : sequence, isErased: false };
      open.set(name, { ...one, why, since: event.at, hasEnded: false });
    } else if (known !== undefined && ends.has(event.type)) {
      settle(name, { ...known, hasEnded: true, since: event.at });
    } else if (known !== undefined && event.type === "JobContentErased" && isWholeErasure(event)) {
      settle(name, { ...known, isErased: true });
    }
  };
  const beginsHere = ({ type }: MailingEvent, sequence: number): boolean =>
    type === "MailingRetried" || (type === "MailingCreated" && sequence <= upTo);
  const takeMailing = ({ tenant, jobId, sequence, event }: StoredEvent<MailingEvent>): void => {
    const name = `${tenant}/${jobId}`;
    const known = open.get(name);
    const why = whyMailingIsOpen.get(event.type);
    if (known !== undefined && (event.type === "MailingCancelled" || event.type === "MailingCompleted")) {
      settle(name, { ...known, hasEnded: true, since: event.at });
    } else if (known !== undefined && event.type === "MailingContentErased") settle(name, { ...known, isErased: true });
    else if (why !== undefined && (known !== undefined || beginsHere(event, sequence))) {
      const isAgain = event.type === "MailingRetried";
      const one = known ?? { job: { tenant, jobId }, sequence: isAgain ? 0 : sequence, isErased: false };
      open.set(name, { ...one, why, since: event.at, hasEnded: false });
    }
  };
  /** The last event of a schedule holds all of it: what came before may go. */
  const takeSchedule = ({ tenant, jobId, sequence, event }: StoredEvent<ScheduleEvent>): void => {
    const name = `${tenant}/${jobId}`;
    const why = `its schedule is ${event.data.schedule.status}`;
    if (event.data.schedule.status === "deleted" || sequence > upTo) open.delete(name);
    else open.set(name, { job: { tenant, jobId }, why, since: event.at, sequence, hasEnded: false, isErased: false });
  };
  const takeAlert = ({ sequence, event }: StoredEvent<AlertEvent>): void => {
    const { alert } = event.data;
    if (event.type === "AlertCleared") alerts.delete(alert);
    else alerts.set(alert, { job: null, why: `the alert ${alert} is raised`, since: event.at, sequence });
  };

  /** An operator has passed by what is undecodable; an event of a newer release may say anything. */
  const takeUnknown = ({ tenant, jobId, sequence, unknownType }: UnknownEvent): void => {
    if (unknownType === "undecodable" || sequence > upTo) return;
    const why = `it has a ${unknownType}, which only a newer release knows`;
    unknown.push({ job: { tenant, jobId }, why, since: null, sequence });
  };

  return {
    take: (event: LogEvent): void => {
      if (isOfJob(event)) takeDecision(event);
      else if (isOfMailing(event)) takeMailing(event);
      else if (isOfSchedule(event)) takeSchedule(event);
      else if (!("event" in event)) takeUnknown(event);
      else if (event.event.type === "AlertRaised" || event.event.type === "AlertCleared") {
        takeAlert(event as StoredEvent<AlertEvent>);
      }
    },
    left: (): readonly HeldBack[] => [...open.values(), ...alerts.values(), ...unknown],
  };
}
