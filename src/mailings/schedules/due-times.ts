import { Cron } from "croner";
import type { Instant } from "../../domain/message.ts";
import type { ScheduleSettings } from "../../domain/schedule/events.ts";
import type { Times, TimesOf } from "../../domain/schedule/tend.ts";

type Clock = Pick<ScheduleSettings, "cron" | "timeZone">;

/** More are not counted. */
const maxCount = 1000;
const minuteMs = 60_000;

/** What is longer is not read: croner takes seconds for a million numbers. */
export const maxCronLength = 200;

/**
 * A time of the day that a change of the clocks leaves out fires at the first moment after the gap, and one that comes twice
 * fires the first time only: so does every expression that names its hours and minutes. One with a wildcard or a step in them
 * goes by the clock on the wall: it fires in both of the hours, and not in the one that is left out. Croner keeps 30 kB for
 * each spelling of a zone, for ever: it is given one.
 */
const cronOf = ({ cron, timeZone }: Clock): Cron =>
  new Cron(cron, { timezone: timeZone.toLowerCase(), mode: "5-part", fixedTimeRule: "no-wildcard" });

/** What is wrong with an expression, in words; null for one that has a time to come. */
export function whyNoCron(cron: string, timeZone: string, from: Instant): string | null {
  if (cron.length > maxCronLength || cron.trim().split(/\s+/).length !== 5) {
    return "expected five fields: minute, hour, day of the month, month, day of the week";
  }
  try {
    return nextAfter({ cron, timeZone }, from) === null
      ? "expected a time that comes, which this one never does"
      : null;
  } catch {
    return "expected a cron expression such as 30 8 * * mon";
  }
}

/** Null where there is none any more. */
export const nextAfter = (clock: Clock, after: Instant): Instant | null =>
  cronOf(clock).nextRun(new Date(after))?.toISOString() ?? null;

export const nextTimes = (clock: Clock, after: Instant, count: number): readonly Instant[] =>
  cronOf(clock)
    .nextRuns(count, new Date(after))
    .map((time) => time.toISOString());

/** Counts the times forward only, so that every one is the same whatever was asked before. */
export const timesOf: TimesOf = (clock, after, upTo) => {
  const found = between(clock, after, upTo, maxCount);
  const [first] = found;
  if (first === undefined) return null;
  const ends = found.length < maxCount ? found : lastOf(clock, after, upTo);
  return { count: found.length, first, last: ends.at(-1) ?? first, beforeLast: ends.at(-2) ?? null } satisfies Times;
};

function between(clock: Clock, after: Instant, upTo: Instant, most: number): Instant[] {
  const cron = cronOf(clock);
  const end = Date.parse(upTo);
  const found: Instant[] = [];
  if (Date.parse(after) >= end) return found;
  for (let time = cron.nextRun(new Date(after)); time !== null && time.getTime() <= end; time = cron.nextRun(time)) {
    found.push(time.toISOString());
    if (found.length === most) break;
  }
  return found;
}

/** The last two, or some more, looked for in longer and longer stretches before the end. */
function lastOf(clock: Clock, after: Instant, upTo: Instant): readonly Instant[] {
  for (let stretchMs = 2 * minuteMs; ; stretchMs *= 2) {
    const from = new Date(Math.max(Date.parse(after), Date.parse(upTo) - stretchMs)).toISOString();
    const found = between(clock, from, upTo, maxCount);
    if (found.length >= 2 || from <= after) return found;
  }
}
