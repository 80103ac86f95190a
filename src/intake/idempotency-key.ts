import { type Checked, failed, passed, shown } from "../schemas/fault.ts";

/** The key as it was sent, or in quotes as the standard in preparation writes it. Null where there is none. */
export function readIdempotencyKey(header: string | null): Checked<string | null> {
  if (header === null) return passed(null);
  const key = /^".*"$/.test(header) ? header.slice(1, -1) : header;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return passed(key);
  const message = `Idempotency-Key is ${shown(header)}; expected 1 to 255 visible characters`;
  return failed([{ pointer: "Idempotency-Key", message }]);
}
