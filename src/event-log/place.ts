import { cursorText, readCursor } from "./cursor.ts";
import { maxEventsOfEntry, type Place } from "./event-log.ts";

/** The place of an event in the log as one number: it grows along the log, and no two events share it. */
export const placeOf = ({ sequence, index }: Place): number => sequence * maxEventsOfEntry + index;

/** The highest place in an entry. */
export const lastPlaceOf = (sequence: number): number => (sequence + 1) * maxEventsOfEntry - 1;

export const positionOf = (place: number): Place => ({
  sequence: Math.floor(place / maxEventsOfEntry),
  index: place % maxEventsOfEntry,
});

/** A place as clients see it: `sequence`, or `sequence.index` for all but the first event of an entry. */
export function placeToText(place: number): string {
  const { sequence, index } = positionOf(place);
  return cursorText({ sequence, index: index === 0 ? null : index });
}

export const placePattern = "^\\d{1,14}(\\.\\d{1,2})?$";

/** Null if it is no text of `placeToText`. */
export function placeFromText(text: string): number | null {
  const cursor = new RegExp(placePattern).test(text) ? readCursor(text) : null;
  if (cursor === null) return null;
  const { sequence, index } = cursor;
  return (index ?? 0) < maxEventsOfEntry ? placeOf({ sequence, index: index ?? 0 }) : null;
}
