import type { Place } from "./event-log.ts";

/** Where a reader of the log goes on: behind an event, or behind a whole entry where `index` is null. */
export type Cursor = { readonly sequence: number; readonly index: number | null };

export const beginOfLog: Cursor = { sequence: 0, index: null };

/** `17.2` behind the third event of entry 17, `17` behind the whole entry. Clients pass it on as it is. */
export const cursorText = ({ sequence, index }: Cursor): string =>
  index === null ? String(sequence) : `${sequence}.${index}`;

/** Null for a text that is no cursor. */
export function readCursor(text: string): Cursor | null {
  const [, sequence = "", index] = /^(\d{1,15})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (sequence === "") return null;
  return { sequence: Number(sequence), index: index === undefined ? null : Number(index) };
}

export const isBehind = ({ sequence, index }: Cursor, event: Place): boolean =>
  event.sequence > sequence || (event.sequence === sequence && index !== null && event.index > index);

/** The last entry of which a reader with this cursor wants nothing more. */
export const lastWholeEntry = ({ sequence, index }: Cursor): number =>
  index === null ? sequence : Math.max(0, sequence - 1);
