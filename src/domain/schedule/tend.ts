import type { Instant } from "../message.ts";
import type { Schedule, ScheduleEvent, ScheduleSettings, SkipReason } from "./events.ts";

/** Some times in a row; the count goes no further than a thousand. */
export type Times = {
  readonly count: number;
  readonly first: Instant;
  readonly last: Instant;
  /** Null for a single time. */
  readonly beforeLast: Instant | null;
};

/** The times of a schedule after one instant and up to another; null for none. */
export type TimesOf = (settings: ScheduleSettings, after: Instant, upTo: Instant) => Times | null;

/** What was made last; `endedAt` is null for what never was. */
export type Previous = { readonly isOpen: true } | { readonly isOpen: false; readonly endedAt: Instant | null };

export type TendSchedule = {
  readonly type: "TendSchedule";
  readonly at: Instant;
  readonly timesOf: TimesOf;
  readonly previous: Previous;
  /** The id of what is made for a time: the same in every process. */
  readonly idOf: (dueAt: Instant) => string;
};

/** An event, and what it changes of the schedule. */
export type ScheduleEventWithout = {
  [Type in ScheduleEvent["type"]]: {
    readonly type: Type;
    readonly data: Omit<Extract<ScheduleEvent, { type: Type }>["data"], "schedule">;
    readonly change: Partial<Schedule>;
  };
}[ScheduleEvent["type"]];

/** What is later than this was missed: the service was away. */
export const lateAfterMs = 60_000;

/** How often times that come due while one still runs are recorded, together, after the first. */
export const skippedTogetherMs = 3_600_000;

/**
 * The next thing to be recorded: times that came due before the end of what was made last, times that passed while the
 * service was away, or the one that fires. None where nothing is due; else it is to be asked again.
 */
export function tend(command: TendSchedule, state: Schedule): readonly ScheduleEventWithout[] {
  if (state.status !== "active") return [];
  const overlapping = inTheWay(command, state);
  if (overlapping.length > 0 || command.previous.isOpen) return overlapping;
  const away = missed(command, state);
  return away === null ? fired(command, state) : [away];
}

/** A time that waited comes before the others. */
function fired({ at, timesOf, idOf }: TendSchedule, state: Schedule): readonly ScheduleEventWithout[] {
  const { waiting, countedFrom } = state;
  const dueAt = waiting ?? timesOf(state, countedFrom, at)?.first;
  if (dueAt === undefined) return [];
  const madeId = idOf(dueAt);
  const last = { dueAt, at, madeId, isFailed: false };
  const change = { last, waiting: null, skippedAt: null, countedFrom: waiting === null ? dueAt : countedFrom };
  return [{ type: "ScheduleFired", data: { dueAt, madeId }, change }];
}

/** Of the times until the end of what was made last, one may wait; the others are skipped. */
function inTheWay({ at, previous, timesOf }: TendSchedule, state: Schedule): readonly ScheduleEventWithout[] {
  const until = busyUntil(previous, at);
  const busy = until === null ? null : timesOf(state, state.countedFrom, until);
  if (busy === null || until === null) return [];
  if (state.overlap === "skip" || state.waiting !== null) return [skipped(busy, "overlap", at)];
  const { first: dueAt } = busy;
  const queued: ScheduleEventWithout = {
    type: "ScheduleQueued",
    data: { dueAt },
    change: { waiting: dueAt, countedFrom: dueAt },
  };
  const others = timesOf(state, dueAt, until);
  return others === null ? [queued] : [queued, skipped(others, "overlap", at)];
}

function busyUntil(previous: Previous, at: Instant): Instant | null {
  if (previous.isOpen) return at;
  // The clock of another process may be ahead.
  return previous.endedAt !== null && previous.endedAt > at ? at : previous.endedAt;
}

/** The times that came due too long ago, but for the latest where that one is to be made up for. */
function missed({ at, timesOf }: TendSchedule, state: Schedule): ScheduleEventWithout | null {
  const lateBefore = new Date(Date.parse(at) - lateAfterMs - 1).toISOString();
  const times = timesOf(state, state.countedFrom, lateBefore);
  if (times === null) return null;
  if (state.catchUp === "none") return skipped(times, "missed", null);
  const { count, first, beforeLast } = times;
  return beforeLast === null ? null : skipped({ count: count - 1, first, last: beforeLast }, "missed", null);
}

const skipped = (
  { count, first, last }: Pick<Times, "count" | "first" | "last">,
  reason: SkipReason,
  skippedAt: Instant | null,
): ScheduleEventWithout => ({
  type: "ScheduleSkipped",
  data: { firstDueAt: first, dueAt: last, count, reason },
  change: { countedFrom: last, ...(skippedAt === null ? {} : { skippedAt }) },
});

export const laterOf = (one: Instant, other: Instant): Instant => {
  if (one > other) return one;
  return other;
};

/** When to look at it next; null for not until something happens. `nextAfter` is null where there is no further time. */
export function nextLook(
  state: Schedule,
  isOpen: boolean,
  nextAfter: (settings: ScheduleSettings, after: Instant) => Instant | null,
): Instant | null {
  if (state.status !== "active") return null;
  const next = nextAfter(state, state.countedFrom);
  if (next === null || !isOpen || state.skippedAt === null) return next;
  const together = new Date(Date.parse(state.skippedAt) + skippedTogetherMs).toISOString();
  return laterOf(next, together);
}
