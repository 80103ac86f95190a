import type { Instant } from "../message.ts";

export const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Weekday = (typeof weekdays)[number];

/** The days and hours in which a mailing goes out, by the clocks of a time zone. */
export type SendingWindow = {
  readonly days: readonly Weekday[];
  /** As `08:30`. */
  readonly from: string;
  /** Later than `from`; `24:00` is the end of the day. */
  readonly to: string;
  /** A name of the IANA time zone database, as `Europe/Berlin`. */
  readonly timeZone: string;
};

const dayMs = 86_400_000;

/** Of the calendar: instants are compared as texts, and a year with five digits would count as the past. */
const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The first moment from the given one on that lies in the window: that one, or when the window opens next. */
export function nextInWindow(window: SendingWindow, from: Instant): Instant {
  const now = Date.parse(from);
  const [opens, closes] = [minutesOf(window.from), minutesOf(window.to)];
  const { midnight: today, minutes, weekday } = localOf(now, window.timeZone);
  if (window.days.includes(weekday) && minutes >= opens && minutes < closes) return from;
  // A week on it is the same day of the week, and another week on where the clocks skip the end of that day.
  for (let day = 0; day <= 15; day += 1) {
    const opening = instantOf(today + day * dayMs + opens * 60_000, window.timeZone);
    if (opening >= now && window.days.includes(localOf(opening, window.timeZone).weekday)) {
      return new Date(Math.min(opening, lastMoment)).toISOString();
    }
  }
  throw new Error("A window without a day never opens.");
}

/** Longer than the name of any zone. */
const maxNameLength = 100;

export function isTimeZone(name: string): boolean {
  try {
    return name.length <= maxNameLength && formatOf(name) !== undefined;
  } catch {
    return false;
  }
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

type Local = {
  /** The beginning of the local day, as if its clocks showed UTC. */
  readonly midnight: number;
  readonly minutes: number;
  readonly weekday: Weekday;
};

function localOf(at: number, timeZone: string): Local {
  const local = at + offsetAt(at, timeZone);
  const midnight = Math.floor(local / dayMs) * dayMs;
  const weekday = weekdays[(new Date(midnight).getUTCDay() + 6) % 7] as Weekday;
  return { midnight, minutes: Math.floor((local - midnight) / 60_000), weekday };
}

/**
 * When the clocks of the zone show a time. Where they skip it in spring, an hour later; where they show it twice in autumn,
 * the first of the two.
 */
function instantOf(local: number, timeZone: string): number {
  const possible = [local - dayMs, local + dayMs].map((near) => local - offsetAt(near, timeZone));
  return possible.find((at) => at + offsetAt(at, timeZone) === local) ?? Math.max(...possible);
}

/** Milliseconds by which the clocks of the zone are ahead of UTC. */
function offsetAt(at: number, timeZone: string): number {
  const parts = formatOf(timeZone).formatToParts(at);
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const shown = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  return shown - Math.floor(at / 1000) * 1000;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** A format costs a millisecond to make, and memory: all spellings of a name have one. Names are ASCII. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const name = timeZone.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const known = formats.get(name);
  if (known !== undefined) return known;
  const options = { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric" } as const;
  const made = new Intl.DateTimeFormat("en-US", { ...options, second: "numeric", hourCycle: "h23", timeZone });
  formats.set(name, made);
  return made;
}
