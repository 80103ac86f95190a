import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { keyBytes, type SecretKey, type SecretKeys } from "./secret-keys.ts";

/** Encrypts the entries of one bucket. An entry that was moved to another name or bucket cannot be opened there. */
export interface Sealing {
  /** Whether entries are encrypted: else they are stored in clear, for want of a key. */
  readonly isOn: boolean;
  seal(entry: string, text: string): string;
  /** Takes an entry in clear as well: an earlier release, or a service without a key, has stored it. Throws CannotOpen. */
  open(entry: string, stored: string): string;
  /** The key that an entry was encrypted with; null for one in clear. */
  keyOf(stored: string): string | null;
  /** The key that encrypts now; null for none. */
  currentKey(): string | null;
}

/** An entry is encrypted with a key that this process does not have, or was changed. */
export class CannotOpen extends Error {
  override readonly name = "CannotOpen";
}

const form = /^waybill-sealed:1:([0-9a-f]{12}):([A-Za-z0-9+/]+=*)$/;
const ivBytes = 12;
const tagBytes = 16;

/** `keys` is null where SECRETS_KEY is not set. The name of the bucket has no prefix, so that a backup can be restored under another. */
export function createSealing(keys: SecretKeys | null, bucket: string): Sealing {
  const placeOf = (entry: string): Buffer => Buffer.from(`${bucket}\n${entry}`);
  const keyOf = (stored: string): string | null => form.exec(stored)?.[1] ?? null;
  const cannot = (entry: string, why: string): CannotOpen =>
    new CannotOpen(`The entry ${entry} of the bucket ${bucket} cannot be decrypted: ${why}`);

  return {
    isOn: keys !== null,
    keyOf,
    currentKey: () => keys?.all()[0]?.id ?? null,
    seal: (entry, text) => {
      const [key] = keys?.all() ?? [];
      return key === undefined ? text : sealWith(key, placeOf(entry), text);
    },
    open: (entry, stored) => {
      const [, id, sealed = ""] = form.exec(stored) ?? [];
      if (id === undefined) return stored;
      if (keys === null) throw cannot(entry, `SECRETS_KEY is not set, and it was encrypted with the key ${id}.`);
      const key = keys.all().find((candidate) => candidate.id === id);
      if (key === undefined) throw cannot(entry, `the file SECRETS_KEY of this process lacks the key ${id}.`);
      try {
        return openWith(key, placeOf(entry), Buffer.from(sealed, "base64"));
      } catch {
        throw cannot(entry, `it was changed, or moved from elsewhere, after the key ${id} encrypted it.`);
      }
    },
  };
}

/** For tests and for tools that must not encrypt. */
export const inClear = (bucket: string): Sealing => createSealing(null, bucket);

function sealWith({ id, bytes }: SecretKey, place: Buffer, text: string): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", bytes, iv).setAAD(place);
  const sealed = Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `waybill-sealed:1:${id}:${sealed.toString("base64")}`;
}

function openWith({ bytes }: SecretKey, place: Buffer, sealed: Buffer): string {
  if (bytes.length !== keyBytes || sealed.length < ivBytes + tagBytes) throw new Error("too short");
  const decipher = createDecipheriv("aes-256-gcm", bytes, sealed.subarray(0, ivBytes), { authTagLength: tagBytes });
  decipher.setAAD(place).setAuthTag(sealed.subarray(-tagBytes));
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes, -tagBytes)), decipher.final()]).toString("utf8");
}
