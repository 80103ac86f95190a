import { randomUUID } from "node:crypto";

/** Version, trace, parent, flags; later versions of W3C Trace Context may append more. */
const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * A `traceparent` as this release passes it on, in version 00; null if the text is none. It is passed on unchanged,
 * without a span of our own: the service exports no spans, and a trace that names an unknown span is broken there.
 */
export function readTraceparent(given: unknown): string | null {
  const [, version, trace, parent, flags, more] = (typeof given === "string" && form.exec(given)) || [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(trace ?? "") || /^0+$/.test(parent ?? "")) return null;
  return `00-${trace}-${parent}-${flags}`;
}

/** The start of a trace that no other system records: not sampled. */
export function newTraceparent(): string {
  return `00-${randomHex()}-${randomHex().slice(0, 16)}-00`;
}

/** 32 digits. Node fetches randomness for many UUIDs at once, and for other bytes each time. */
const randomHex = (): string => randomUUID().replaceAll("-", "");

/** The part that names the whole trace, for log lines; undefined for none. */
export const traceIdOf = (traceparent: string | null): string | undefined => traceparent?.slice(3, 35);
