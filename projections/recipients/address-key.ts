import { createHash } from "node:crypto";

/** As many as the column holds; an e-mail address never has more. */
const maxLength = 255;

/**
 * What an address is found by: the same for every spelling that acceptance takes for the same address. URLs, which jobs
 * of other kinds have for addresses, may be longer than an index takes, and are then found by their digest.
 */
export function addressKeyOf(address: string): string {
  const key = address.toLowerCase();
  return key.length <= maxLength ? key : `sha256:${createHash("sha256").update(key).digest("hex")}`;
}
