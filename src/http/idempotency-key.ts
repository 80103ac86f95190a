import { createHash } from "node:crypto";
import { stringify } from "uuid";
import { type Checked, failed, passed, shown } from "../schemas/fault.ts";

/** The key as it was sent, or in quotes as the standard in preparation writes it. Null where there is none. */
export function readIdempotencyKey(header: string | null): Checked<string | null> {
  if (header === null) return passed(null);
  const key = /^".*"$/.test(header) ? header.slice(1, -1) : header;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return passed(key);
  const message = `Idempotency-Key is ${shown(header)}; expected 1 to 255 visible characters`;
  return failed([{ pointer: "Idempotency-Key", message }]);
}

/**
 * The same job for the same key, for ever and on every instance, without a table that could be lost: two requests
 * race for the first event of one job, and one wins. A UUID of version 8 (RFC 9562), made of SHA-256.
 */
export function jobIdOfKey(tenant: string, key: string): string {
  const bytes = createHash("sha256").update(`${tenant}\n${key}`).digest().subarray(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return stringify(bytes);
}
