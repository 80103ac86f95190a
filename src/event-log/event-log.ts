import type { AlertEvent } from "../domain/alerts/events.ts";
import type { JobEvent, JobQueued, Priority } from "../domain/job/events.ts";
import type { LogSealed, MessagePassed } from "../domain/log/events.ts";
import type { NotificationEvent } from "../domain/notifications/notification.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import type { ResultEvent } from "../domain/result/events.ts";
import type { WebhookEvent } from "../domain/webhooks/events.ts";

export type JobRef = { readonly tenant: string; readonly jobId: string };

/** A run of a job that ended: what a dead letter is of, and a notification. */
export type RunRef = { readonly job: JobRef; readonly run: number };

/** Who was told that a job has ended, and who has read it. */
export type Notice = WebhookEvent | NotificationEvent;

/** Stored whatever else was: facts are not guarded by what was decided. */
export type Fact = JobQueued | RecipientEvent | ResultEvent | Notice;

/** What is decided about the service as a whole: it is about no job, and no tenant reads it. */
export type ServiceEvent = AlertEvent | LogSealed | MessagePassed;

export type WaybillEvent = JobEvent | Fact | ServiceEvent;

/** Stands where tenants do for what is about the service as a whole: no tenant can have this name. */
export const serviceTenant = "_service";

/** Where all alerts stand: on one subject, so that whoever decides about one has seen all that was decided before. */
export const alertsRef: JobRef = { tenant: serviceTenant, jobId: "alerts" };

/** Where decisions about the log itself stand: its seals, and what is passed by in it. */
export const logRef: JobRef = { tenant: serviceTenant, jobId: "log" };

/** Mailings stand on the lanes that were there before other kinds of jobs; every other kind has lanes of its own. */
export type Lane = `queue.${Priority}` | `queue.${Priority}.${string}`;
/** Decisions about a job, its turns on the queue, what happened to its recipients, and who was told of its end. */
export type ChannelOfJob = "job" | Lane | "recipients" | "notify";
export type ChannelOfService = "alert" | "seal" | "pass";
export type Channel = ChannelOfJob | ChannelOfService;

/** Who caused an event, by what request, and which event before it. */
export type Cause = {
  /** `anonymous`, `key:<id>`, `worker:<id>` or `scheduler`. */
  readonly actor: string;
  /** The id of the request that it all began with. */
  readonly correlationId: string | null;
  /** The id of the event that this one follows from. */
  readonly causationId: string | null;
  /** The trace that it belongs to, as W3C Trace Context writes it; null for none. */
  readonly traceparent: string | null;
};

export type NewEvent<Event extends WaybillEvent = WaybillEvent> = Cause & {
  /** Derived from what caused it, so that the same event appended twice is recognised. */
  readonly id: string;
  readonly event: Event;
};

/** `sequence` is its place in the whole log: unique, growing, with gaps. */
export type StoredEvent<Event extends WaybillEvent = JobEvent | Fact> = NewEvent<Event> &
  JobRef & {
    readonly sequence: number;
    readonly channel: Channel;
  };

/**
 * A message of the log whose type this release does not know, or that an operator has passed by: it is passed over, its
 * sequence counts.
 */
export type UnknownEvent = JobRef & { readonly sequence: number; readonly unknownType: string };

export type LogEntry = StoredEvent<WaybillEvent> | UnknownEvent;

/** Whether it is an event of a job that this release knows: all that a read model is made of. */
export const isOfJob = (entry: LogEntry): entry is StoredEvent => "event" in entry && entry.tenant !== serviceTenant;

/** Which log this is and how far it has come. `createdAt` changes when a stream was deleted and made anew. */
export type LogState = { readonly createdAt: string; readonly lastSequence: number };

/**
 * The log of everything that happened, the truth of the service. Events are never changed or removed.
 *
 * Every method throws Unavailable when the log cannot be reached within its deadline.
 */
export interface EventLog {
  /**
   * Stores a decision about a job, or about the service, if the last event of its own subject still is
   * `expectedSequence` (0: none; what was passed by does not count), else throws VersionConflict. When it returns, the
   * event is stored; its sequence comes back. An answer that was lost on the way is settled by looking, so a conflict is
   * never reported for one's own event.
   */
  append(job: JobRef, event: NewEvent<JobEvent | ServiceEvent>, expectedSequence: number): Promise<number>;

  /** Stores a fact. The same id again, within two minutes, is stored once. Many may be on their way at a time. */
  record(job: JobRef, event: NewEvent<Fact>): Promise<number>;

  /** The decisions about a job, oldest first, as the leader has them: what was appended before is among them. */
  readDecisions(job: JobRef): Promise<readonly StoredEvent<JobEvent>[]>;

  /** What happened to the recipients of a job, oldest first, as the leader has it. */
  readRecipients(job: JobRef): Promise<readonly StoredEvent<RecipientEvent>[]>;

  /** Who was told that the job has ended and who has read it, oldest first, as the leader has it. */
  readNotices(job: JobRef): Promise<readonly StoredEvent<Notice>[]>;

  /**
   * Everything about a job in the order of the log. Nothing is left out before the last event of it: whoever reads that a
   * job has ended also reads what became of its recipients.
   */
  readHistory(job: JobRef): Promise<readonly StoredEvent[]>;

  /** The sequence of the last decision about a job, 0 if there is none: the cheap way to see whether it changed. */
  lastDecision(job: JobRef): Promise<number>;

  /**
   * Calls back when something is decided about a job, the moment it is stored. A hint that can be lost: whoever must
   * not miss a decision also asks for the last one.
   */
  onDecision(job: JobRef, decided: () => void): () => void;

  /** When which alert was raised and cleared, oldest first, as the leader has it. */
  readAlerts(): Promise<readonly (StoredEvent<AlertEvent> | UnknownEvent)[]>;

  /** Which messages an operator has decided to pass by, oldest first, as the leader has it. */
  readPasses(): Promise<readonly StoredEvent<MessagePassed>[]>;

  state(): Promise<LogState>;

  /**
   * The whole log in order from after a sequence, then what is appended, until the signal aborts. Batches hold what
   * is there, up to `maxEvents`, and are never empty. An event that cannot be decoded throws UndecodableEvent when
   * its turn comes, after everything before it was handed out, unless an operator has passed it by. Lost connections
   * are taken up again.
   */
  follow(options: FollowOptions): AsyncIterable<readonly LogEntry[]>;
}

export type FollowOptions = {
  readonly afterSequence: number;
  readonly maxEvents: number;
  readonly signal: AbortSignal;
};

/** Somebody else decided about the job first: read again, decide again. */
export class VersionConflict extends Error {
  override readonly name = "VersionConflict";
}

/** The log has reached its size limit; nothing was stored. */
export class LogFull extends Error {
  override readonly name = "LogFull";
}

/** A stored event of a known type whose data breaks its schema: somebody else wrote to the log, or a newer release. */
export class UndecodableEvent extends Error {
  override readonly name = "UndecodableEvent";
  readonly sequence: number;
  readonly reason: string;
  /** Its type is known and its version is not: a process of a newer release can read it. */
  readonly isNewer: boolean;
  /** Null where only the event was at hand, and not the message that holds it. */
  readonly stored: StoredDigest | null;

  constructor(sequence: number, reason: string, isNewer = false, stored: StoredDigest | null = null) {
    const what = `Event ${sequence} of the log cannot be decoded: ${reason}`;
    super(stored === null ? what : `${what} ("waybill log show ${sequence}" shows it, and how to go on without it)`);
    this.sequence = sequence;
    this.reason = reason;
    this.isNewer = isNewer;
    this.stored = stored;
  }
}

/** By what an operator names a message: its digest is the one that seals are made of, as hex. */
export type StoredDigest = { readonly subject: string; readonly sha256: string };

/** Whether somebody has decided that readers go on without this message, exactly as it is stored. */
export const isPassed = (
  { sequence, stored }: UndecodableEvent,
  passes: readonly StoredEvent<MessagePassed>[],
): boolean => passes.some(({ event }) => event.data.sequence === sequence && event.data.sha256 === stored?.sha256);
