import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * A key as its bearer holds it: `wb_<id>_<secret><checksum>`, letters and digits only. Secret scanners find it by its
 * prefix, and the checksum tells it from a random text without a request. The secret has 256 bits.
 */
export type AccessKey = { readonly id: string; readonly text: string };

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const idLength = 12;
const secretLength = 43;
const checksumLength = 6;

const whole = new RegExp(`^wb_([0-9A-Za-z]{${idLength}})_[0-9A-Za-z]{${secretLength + checksumLength}}$`);

export function newAccessKey(): AccessKey {
  const id = randomText(idLength);
  const unchecked = `wb_${id}_${randomText(secretLength)}`;
  return { id, text: unchecked + checksumOf(unchecked) };
}

/** Null for a text that cannot be a key. */
export function parseAccessKey(text: string): AccessKey | null {
  const id = whole.exec(text)?.[1];
  const isWhole = id !== undefined && checksumOf(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
  return isWhole ? { id, text } : null;
}

/** The stored digest of a key. The secret is long and random, so a slow hash would only add work to each request. */
export const digestOfKey = (text: string): Buffer => createHash("sha256").update(text).digest();

const randomText = (length: number): string =>
  Array.from({ length }, () => alphabet.charAt(randomInt(alphabet.length))).join("");

/** CRC-32 in base 62. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = "";
  while (digits.length < checksumLength) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
