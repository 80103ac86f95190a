import { newTraceparent, readTraceparent } from "../event-log/traceparent.ts";

/**
 * The trace that begins with a row: a UUID is as long as a trace's id, so whoever wrote the row knows what to look for,
 * and it is the same on every attempt. An id that W3C Trace Context forbids, all zeros, begins one of chance.
 */
export function traceparentOfRow(rowId: string): string {
  const digits = rowId.replaceAll("-", "").toLowerCase();
  return readTraceparent(`00-${digits}-${digits.slice(16)}-00`) ?? newTraceparent();
}
