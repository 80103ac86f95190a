import { isLoopback } from "../access/auth-mode.ts";

/** Reads a setting, null where there is none; and notes what is wrong with one, with what was expected. */
type Reader = {
  readonly raw: (name: string) => string | null;
  readonly fault: (name: string, value: string, expected: string) => void;
};

/** It stands in a line of a mail's header, which no mail server takes if it is too long. */
const maxLength = 200;
const expected = `https://… of at most ${maxLength} characters (http on this machine only), without a query`;

/** Where people outside reach the API; null where nobody said it. Without a slash at its end. */
export function readPublicUrl(read: Reader): string | null {
  const value = read.raw("PUBLIC_URL");
  if (value === null) return null;
  if (isPublic(value)) return new URL(value).href.replace(/\/+$/, "");
  read.fault("PUBLIC_URL", value, expected);
  return null;
}

/** RFC 8058 asks for https: what others could read on its way, others could use. */
function isPublic(value: string): boolean {
  if (value.length > maxLength || !URL.canParse(value)) return false;
  const { protocol, hostname, username, search, hash } = new URL(value);
  const isSafe = protocol === "https:" || (protocol === "http:" && isLoopback(hostname.replace(/^\[|\]$/g, "")));
  return isSafe && username === "" && search === "" && hash === "";
}
