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
  return index === 0 ? String(sequence) : `${sequence}.${index}`;
}

export const placePattern = "^\\d{1,14}(\\.\\d{1,2})?$";

/** Null if it is no text of `placeToText`. */
export function placeFromText(text: string): number | null {
  if (!new RegExp(placePattern).test(text)) return null;
  const [sequence, index = "0"] = text.split(".");
  return Number(index) < maxEventsOfEntry ? Number(sequence) * maxEventsOfEntry + Number(index) : null;
}
