import { randomBytes } from "node:crypto";

/** Version, trace, who asked, flags; later versions of W3C Trace Context may have more after these. */
const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * A `traceparent` as this release passes it on, in version 00; null where it is none. It goes on as it came, with no
 * step of our own in it: nobody is told of our steps, and a trace with a step that nobody knows is broken there.
 */
export function readTraceparent(given: unknown): string | null {
  const [, version, trace, parent, flags, more] = (typeof given === "string" && form.exec(given)) || [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(trace ?? "") || /^0+$/.test(parent ?? "")) return null;
  return `00-${trace}-${parent}-${flags}`;
}

/** The beginning of a trace that nobody else records: not sampled. */
export function newTraceparent(): string {
  const random = randomBytes(24).toString("hex");
  return `00-${random.slice(0, 32)}-${random.slice(32)}-00`;
}

/** The part of it that names the whole trace, for log lines; undefined for none. */
export const traceIdOf = (traceparent: string | null): string | undefined => traceparent?.split("-")[1];
