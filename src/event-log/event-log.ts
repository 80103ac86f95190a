import type { AlertEvent } from "../domain/alerts/events.ts";
import type { JobEvent } from "../domain/job/events.ts";
import type { LogArchived, LogSealed, MessagePassed } from "../domain/log/events.ts";
import { isMailingEvent, type MailingEvent } from "../domain/mailing/events.ts";
import type { NotificationEvent } from "../domain/notifications/notification.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import type { ReturnEvent } from "../domain/recipients/feedback.ts";
import type { ResultEvent } from "../domain/result/events.ts";
import { isScheduleEvent, type ScheduleEvent } from "../domain/schedule/events.ts";
import type { ThrottleEvent } from "../domain/throttles/events.ts";
import type { WebhookEvent } from "../domain/webhooks/events.ts";

export type JobRef = { readonly tenant: string; readonly jobId: string };

/** One text for each job. */
export const keyOf = ({ tenant, jobId }: JobRef): string => `${tenant}.${jobId}`;

/** The inverse of keyOf: neither a tenant nor an id has a dot. */
export function refOf(key: string): JobRef {
  const [tenant = "", jobId = ""] = key.split(".");
  return { tenant, jobId };
}

/** A run of a job that ended: the key of a dead letter and of a notification. */
export type RunRef = { readonly job: JobRef; readonly run: number };

/** Who was notified that a job has ended, and who has read the notification. */
export type Notice = WebhookEvent | NotificationEvent;

/** Stored unconditionally: no expected sequence guards a fact. */
export type Fact = RecipientEvent | ResultEvent | Notice;

/** Decisions about the service as a whole: they belong to no job, and no tenant reads them. */
export type ServiceEvent = AlertEvent | LogArchived | LogSealed | MessagePassed | ThrottleEvent;

/**
 * What the log of a tenant consists of. A mailing stands in the place of a job: its id is the `jobId` of its events. So does
 * a schedule.
 */
export type TenantEvent = JobEvent | Fact | ReturnEvent | MailingEvent | ScheduleEvent;

export type WaybillEvent = TenantEvent | ServiceEvent;

/** Takes the tenant's position in subjects about the service as a whole: no tenant can have this name. */
export const serviceTenant = "_service";

/**
 * The channel of all alerts. They share one subject, so that a decision about one alert is based on every decision
 * before it.
 */
export const alertsRef: JobRef = { tenant: serviceTenant, jobId: "alerts" };

/** The channel of decisions about the log itself: its seals, its archived parts, and the messages that were passed by. */
export const logRef: JobRef = { tenant: serviceTenant, jobId: "log" };

/** The channel of facts about receivers of mail that are slowed down: they are decided in the bucket THROTTLES. */
export const throttlesRef: JobRef = { tenant: serviceTenant, jobId: "throttles" };

export type ChannelOfService = "alert" | "seal" | "pass" | "archive" | "throttle";
/** Those of a job are for decisions, for facts, and for what came back about its mails; those of a mailing and of a schedule are for decisions. */
export type Channel = "job" | "facts" | "feedback" | "mailing" | "schedule" | ChannelOfService;

/** The actor that caused an event, the request, and the event before it. */
export type Cause = {
  /** `anonymous`, `key:<id>`, `worker:<id>`, `schedule:<id>` or `scheduler`. */
  readonly actor: string;
  /** The id of the request that started the chain of events. */
  readonly correlationId: string | null;
  /** The id of the event that caused this one. */
  readonly causationId: string | null;
  /** The trace that the event belongs to, as W3C Trace Context writes it; null for none. */
  readonly traceparent: string | null;
};

export type NewEvent<Event extends WaybillEvent = WaybillEvent> = Cause & {
  /** Derived from the cause of the event, so that the same event appended twice is recognised. */
  readonly id: string;
  readonly event: Event;
};

/** At least one event, and at most `maxEventsOfEntry`. */
export type NewEntry<Event extends WaybillEvent = WaybillEvent> = readonly [NewEvent<Event>, ...NewEvent<Event>[]];

/**
 * The place of an event: `sequence` is that of its entry in the whole log (unique, growing, with gaps), `index` its
 * position in the entry, from 0.
 */
export type Place = { readonly sequence: number; readonly index: number };

export type StoredEvent<Event extends WaybillEvent = JobEvent | Fact | ReturnEvent> = NewEvent<Event> & JobRef & Place;

/**
 * An event whose type this release does not know, an entry that an operator has passed by, or facts that a reader does not
 * want: readers skip it, and its sequence counts.
 */
export type UnknownEvent = JobRef & Place & { readonly unknownType: string };

export type LogEvent = StoredEvent<WaybillEvent> | UnknownEvent;

/** Whether this is an event of a tenant that this release knows. Read models are made of these events only. */
export const isOfTenant = (event: LogEvent): event is StoredEvent<TenantEvent> =>
  "event" in event && event.tenant !== serviceTenant;

export const isOfMailing = (event: LogEvent): event is StoredEvent<MailingEvent> =>
  isOfTenant(event) && isMailingEvent(event.event);

export const isOfSchedule = (event: LogEvent): event is StoredEvent<ScheduleEvent> =>
  isOfTenant(event) && isScheduleEvent(event.event);

/** Whether this is an event of a job that this release knows. */
export const isOfJob = (event: LogEvent): event is StoredEvent =>
  isOfTenant(event) && !isMailingEvent(event.event) && !isScheduleEvent(event.event);

/** Which log this is and how far it has come. */
export type LogState = {
  /** Changes when the stream is deleted and created again. */
  readonly createdAt: string;
  readonly lastSequence: number;
  /** Where several nodes hold the log: the one that has just become its leader may not know its end yet. */
  readonly mayLag: boolean;
};

/** An entry holds no more events than this. */
export const maxEventsOfEntry = 64;

/**
 * The log of everything that happened, the source of truth of the service. It consists of entries: events that were
 * decided or found out together, about one job, and that are stored together or not at all. No entry is ever changed or
 * removed.
 *
 * Every method throws Unavailable when the log cannot be reached within its deadline.
 */
export interface EventLog {
  /**
   * Stores an entry with one decision about a job, a mailing, or the service, and the facts that belong to it, if the last entry
   * with a decision is still `expectedSequence` (0: none; entries that were passed by do not count), and throws
   * VersionConflict otherwise. When it returns, the entry is stored; the result is its sequence. A lost answer is resolved
   * by a look at the log, so a conflict is never reported for the caller's own entry.
   */
  append(job: JobRef, entry: NewEntry, expectedSequence: number): Promise<number>;

  /**
   * Stores an entry of facts. An entry whose first event has the same id is stored once within two minutes. Many entries
   * may be in flight at a time.
   */
  record(job: JobRef, entry: NewEntry<Fact | ThrottleEvent>): Promise<number>;

  /** The decisions about a job, oldest first, read from the leader: events appended before the call are among them. */
  readDecisions(job: JobRef): Promise<readonly StoredEvent<JobEvent>[]>;

  /**
   * The decisions about a mailing, oldest first, read from the leader as those about a job are. Given the sequence of one of
   * them, it reads that one and those after it, and all only where that one is not there any more.
   */
  readMailing(mailing: JobRef, from?: number): Promise<readonly StoredEvent<MailingEvent>[]>;

  /**
   * The last decision about a schedule, null for none, read from the leader as those about a job are. It holds all that is
   * to be known of the schedule, so the others are not read.
   */
  readSchedule(schedule: JobRef): Promise<StoredEvent<ScheduleEvent> | null>;

  /** The outcomes of the recipients of a job, oldest first and each once, read from the leader. */
  readRecipients(job: JobRef): Promise<readonly StoredEvent<RecipientEvent>[]>;

  /** What came back about the mails of a job, oldest first, read from the leader; `from` as for the decisions about a mailing. */
  readFeedback(job: JobRef, from?: number): Promise<readonly StoredEvent<ReturnEvent>[]>;

  /**
   * The notifications of the job's end and the confirmations that they were read, oldest first, read from the leader.
   */
  readNotices(job: JobRef): Promise<readonly StoredEvent<Notice>[]>;

  /**
   * Everything about a job in the order of the log, without omissions before its last event: a caller that reads that a
   * job has ended also reads the outcomes of its recipients.
   */
  readHistory(job: JobRef): Promise<readonly StoredEvent[]>;

  /** The sequence of the last decision about a job, 0 if there is none: the cheap way to see whether it changed. */
  lastDecision(job: JobRef): Promise<number>;

  /**
   * Calls back the moment a decision about a job is stored. It is a hint that can be lost: a caller that must not miss
   * a decision also asks for the last sequence.
   */
  onDecision(job: JobRef, decided: () => void): () => void;

  /**
   * When which alert was raised and cleared, oldest first, read from the leader: from the one at the sequence `from` on, if
   * that is still there, else all.
   */
  readAlerts(from?: number): Promise<readonly (StoredEvent<AlertEvent> | UnknownEvent)[]>;

  /** The messages that an operator has decided to pass by, oldest first, read from the leader. */
  readPasses(): Promise<readonly StoredEvent<MessagePassed>[]>;

  /** With a signal, also where the server takes long to answer; throws once it aborts. */
  state(until?: AbortSignal): Promise<LogState>;

  /**
   * The whole log in order from after a sequence, then new events as they are appended, until the signal aborts.
   * Batches hold the available events, up to `maxEvents` or those of one entry; they are never empty, and never end inside
   * an entry. An entry that cannot be decoded throws UndecodableEvent when its turn comes, after everything before it was
   * yielded, unless an operator has passed it by. Lost connections are re-established.
   */
  follow(options: FollowOptions): AsyncIterable<readonly LogEvent[]>;
}

export type FollowOptions = {
  readonly afterSequence: number;
  readonly maxEvents: number;
  readonly signal: AbortSignal;
  /** Asked before each batch. Facts that are not wanted are not decoded: each such entry is one UnknownEvent. */
  readonly wantsFacts?: () => boolean;
  /**
   * How long the reader may rest after an event, in milliseconds, asked before each rest. The first event for a while comes
   * at once; in a steady flow, a reader that rests longer costs the log less. The default is `usualRestMs`.
   */
  readonly restMs?: () => number;
};

/** Hardly later than at once, and in a steady flow a fraction of the work. */
export const usualRestMs = 10;
