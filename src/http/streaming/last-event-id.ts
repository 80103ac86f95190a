import { type Checked, failed, passed, shown } from "../../schemas/fault.ts";

/** The sequence that a client of a stream has seen last; null where it begins. An empty one means none, as in browsers. */
export function readLastEventId(header: string | null): Checked<number | null> {
  if (header === null || header === "") return passed(null);
  const sequence = /^\d{1,16}$/.test(header) ? Number(header) : Number.NaN;
  if (Number.isSafeInteger(sequence)) return passed(sequence);
  return failed([lastEventIdFault(`is ${shown(header)}; expected the id of an event that was received`)]);
}

export const lastEventIdFault = (sentence: string) => ({
  pointer: "Last-Event-ID",
  message: `Last-Event-ID ${sentence}`,
});
