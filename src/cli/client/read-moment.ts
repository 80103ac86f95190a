import { toInstant } from "../../schemas/instant.ts";

/** Whether the service takes it for a time: with its zone. */
export const isTime = (text: string): boolean => toInstant(text) !== null;

const day = /^\d{4}-\d\d-\d\d$/;

/**
 * Such a time, or a day, which begins in UTC; null for any other text. `Date` takes `1` and 30 February, reads 01/02/2026 as
 * the second of January, and means the zone of this machine where a time names none.
 */
export function readMoment(text: string): Date | null {
  const instant = toInstant(day.test(text) ? `${text}T00:00:00Z` : text);
  return instant === null ? null : new Date(instant);
}
