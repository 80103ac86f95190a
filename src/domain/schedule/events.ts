import type { Instant, Message } from "../message.ts";

/** What a schedule makes at each of its times. */
export type MadeThing = "job" | "mailing";

/** What the log keeps of the request for a schedule. Its name and its template are content. */
export type ScheduleSettings = {
  readonly makes: MadeThing;
  /** Five fields, as the library croner reads them. */
  readonly cron: string;
  readonly timeZone: string;
  /** What becomes of a time at which what was made before has not ended. */
  readonly overlap: "skip" | "queue";
  /** What becomes of times that passed while the service was away: none fires, or the latest one. */
  readonly catchUp: "none" | "one";
};

/** Where the name and the template are stored: each change stores them anew, under another id. */
export type ScheduleContentRef = {
  readonly contentId: string;
  /** SHA-256 (hex) of the stored bytes. */
  readonly contentSha256: string;
};

export type LastFiring = {
  readonly dueAt: Instant;
  readonly at: Instant;
  /** The id of the job or the mailing. */
  readonly madeId: string;
  /** It was refused: there is no such job or mailing. */
  readonly isFailed: boolean;
};

/**
 * A schedule after an event. Every event holds all of it, so that the last one is enough to know the schedule: one that
 * fires every minute for years is read as fast as a new one, and keeps nothing but its last event out of the archive.
 */
export type Schedule = ScheduleSettings &
  ScheduleContentRef & {
    readonly status: "active" | "paused" | "deleted";
    readonly createdAt: Instant;
    readonly updatedAt: Instant;
    /** Of the request that created it, where that can be repeated. */
    readonly requestSha256: string | null;
    /** The actor that created or changed it last. Where its mailings need an approval, someone else has to give it. */
    readonly changedBy: string;
    /** Times after this are still to come: whatever the clocks say, none before it fires (again), but see `countedAnew`. */
    readonly countedFrom: Instant;
    readonly last: LastFiring | null;
    /** A time that fires once what was made last has ended. */
    readonly waiting: Instant | null;
    /** When times were skipped that came due before that end; null where none was since the last firing. */
    readonly skippedAt: Instant | null;
  };

/**
 * Why a time did not fire: what was made before had not ended; the service was away; the schedule was paused, changed or
 * deleted while the time waited.
 */
export const skipReasons = ["overlap", "missed", "paused", "changed", "deleted"] as const;
export type SkipReason = (typeof skipReasons)[number];

type Own<Data = unknown> = Data & { readonly schedule: Schedule };
type Reason = { readonly reason: string | null };

export type ScheduleEvent =
  | Message<"ScheduleCreated", Own>
  /** What was stored under `replaces` is to be erased. */
  | Message<"ScheduleChanged", Own<{ readonly replaces: string }>>
  | Message<"SchedulePaused", Own<Reason>>
  | Message<"ScheduleResumed", Own<Reason>>
  | Message<"ScheduleDeleted", Own<Reason>>
  /** The template was stored anew without a person. `recipients` is how many are left. */
  | Message<"ScheduleRecipientsErased", Own<Reason & { readonly recipients: number; readonly replaces: string }>>
  /** Stored before the job or the mailing is made, under the id that this event names. */
  | Message<"ScheduleFired", Own<{ readonly dueAt: Instant; readonly madeId: string }>>
  /** The time waits for the end of what was made last. */
  | Message<"ScheduleQueued", Own<{ readonly dueAt: Instant }>>
  /** `dueAt` is the last of these times. A count of a thousand means that or more. */
  | Message<
      "ScheduleSkipped",
      Own<{
        readonly firstDueAt: Instant;
        readonly dueAt: Instant;
        readonly count: number;
        readonly reason: SkipReason;
      }>
    >
  /** What it would have made was refused: the code of the problem, and the places in the template that it is about. */
  | Message<
      "ScheduleFailed",
      Own<{
        readonly dueAt: Instant;
        readonly madeId: string;
        readonly code: string;
        readonly places: readonly string[];
      }>
    >;

const types: Readonly<Record<ScheduleEvent["type"], true>> = {
  ScheduleCreated: true,
  ScheduleChanged: true,
  SchedulePaused: true,
  ScheduleResumed: true,
  ScheduleDeleted: true,
  ScheduleRecipientsErased: true,
  ScheduleFired: true,
  ScheduleQueued: true,
  ScheduleSkipped: true,
  ScheduleFailed: true,
};

export const isScheduleEvent = <Event extends { readonly type: string }>(
  event: Event,
): event is Extract<Event, { readonly type: ScheduleEvent["type"] }> => Object.hasOwn(types, event.type);

/** The id of the content that is to be erased once the event is there; null for none. */
export function replacedBy(event: ScheduleEvent): string | null {
  if (event.type === "ScheduleDeleted") return event.data.schedule.contentId;
  return event.type === "ScheduleChanged" || event.type === "ScheduleRecipientsErased" ? event.data.replaces : null;
}
