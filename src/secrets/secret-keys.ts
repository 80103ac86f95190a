import { createHash, randomBytes } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

/** A key of the file SECRETS_KEY. Its id is public: it stands in front of what the key has encrypted. */
export type SecretKey = { readonly id: string; readonly bytes: Buffer };

export const keyBytes = 32;

export const newSecretKey = (): SecretKey => toSecretKey(randomBytes(keyBytes));

const toSecretKey = (bytes: Buffer): SecretKey => ({
  id: createHash("sha256").update(bytes).digest("hex").slice(0, 12),
  bytes,
});

export const expectedKeyFile =
  "a file with one key a line, each of them 32 bytes in base64; the first encrypts, the others still decrypt";

const base64OfKey = /^[A-Za-z0-9+/]{43}=$/;

/** The file as it is stored: the key that encrypts comes first. */
export const printKeys = (keys: readonly SecretKey[]): string =>
  keys.map(({ bytes }) => `${bytes.toString("base64")}\n`).join("");

/** Throws an error that does not quote the file. Lines that begin with # are comments. */
export function parseKeys(text: string): readonly SecretKey[] {
  const lines = text.split("\n").map((line) => line.trim());
  const keys = lines.flatMap((line, index) => {
    if (line === "" || line.startsWith("#")) return [];
    if (!base64OfKey.test(line))
      throw new Error(`line ${index + 1} is not a key: expected ${keyBytes} bytes in base64`);
    return [toSecretKey(Buffer.from(line, "base64"))];
  });
  if (keys.length === 0) throw new Error("it holds no key");
  return keys;
}

/** The keys of a file that may be replaced while the process runs. */
export interface SecretKeys {
  /** The one that encrypts comes first. Throws where the file cannot be read. */
  all(): readonly SecretKey[];
}

/**
 * Looks at the file each time, and reads it when it has changed: a rotation reaches processes that run. While the file is
 * away or broken, the keys that were read last go on.
 */
export function readSecretKeys(file: string): SecretKeys {
  let seen = versionOf(file);
  let keys = parseKeys(readFileSync(file, "utf8"));
  return {
    all: () => {
      try {
        const found = versionOf(file);
        if (found !== seen) keys = parseKeys(readFileSync(file, "utf8"));
        seen = found;
      } catch {
        // The next call looks again.
      }
      return keys;
    },
  };
}

function versionOf(file: string): string {
  const { mtimeNs, size, ino } = statSync(file, { bigint: true });
  return `${mtimeNs} ${size} ${ino}`;
}
