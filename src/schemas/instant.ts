import type { Instant } from "../domain/message.ts";

const rfc3339 =
  /^(\d{4}-\d{2}-\d{2})[Tt]((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:(\.\d{1,3})\d{0,6})?([Zz]|[+-][0-2]\d:[0-5]\d)$/;

/** RFC 3339, with an offset, from 1970 to 9999, as the same instant in UTC with milliseconds; else null. */
export function toInstant(text: string): Instant | null {
  const [, date, time, fraction = "", offset] = rfc3339.exec(text) ?? [];
  if (date === undefined || offset === undefined || !isOnCalendar(date)) return null;
  const at = new Date(`${date}T${time}${fraction}${offset.toUpperCase()}`);
  const year = at.getUTCFullYear();
  return year >= 1970 && year <= 9999 ? at.toISOString() : null;
}

/** JavaScript parses 30 February as 2 March. */
function isOnCalendar(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date);
}
