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

/** A place as clients see it, `sequence.index`. */
export const placeToText = (place: number): string => cursorText(positionOf(place));

export const placePattern = "^\\d{1,14}(\\.\\d{1,2})?$";

/** The place of a text of `placeToText`, the last one of the entry for a `sequence` alone; null for any other text. */
export function placeFromText(text: string): number | null {
  const cursor = new RegExp(placePattern).test(text) ? readCursor(text) : null;
  if (cursor === null) return null;
  const { sequence, index } = cursor;
  if (index === null) return lastPlaceOf(sequence);
  return index < maxEventsOfEntry ? placeOf({ sequence, index }) : null;
}
