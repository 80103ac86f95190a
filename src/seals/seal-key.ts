import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from "node:crypto";

/** The key that signs seals and evidence. */
export type SealKey = {
  readonly keyId: string;
  readonly publicKey: string;
  readonly privateKey: KeyObject;
};

export const newSealKey = (): SealKey => toSealKey(generateKeyPairSync("ed25519").privateKey);

/** A PEM with a private Ed25519 key (PKCS #8); null for anything else. */
export function readSealKey(pem: string): SealKey | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === "ed25519" ? toSealKey(key) : null;
  } catch {
    return null;
  }
}

export const toPem = ({ privateKey }: SealKey): string =>
  privateKey.export({ format: "pem", type: "pkcs8" }).toString();

function toSealKey(privateKey: KeyObject): SealKey {
  const publicKey = textOf(createPublicKey(privateKey));
  return { keyId: keyIdOf(publicKey), publicKey, privateKey };
}

const textOf = (key: KeyObject): string => key.export({ format: "der", type: "spki" }).toString("base64");

/** Names a key for people: the first 16 hex digits of the SHA-256 of its DER. */
export const keyIdOf = (publicKey: string): string =>
  hash("sha256", Buffer.from(publicKey, "base64"), "hex").slice(0, 16);

export function toPublicKey(publicKey: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });
    // The text of the key is compared and signed, so only its canonical form is accepted.
    return key.asymmetricKeyType === "ed25519" && textOf(key) === publicKey ? key : null;
  } catch {
    return null;
  }
}

/** A public key as people hold it: a PEM, what `GET /api/seals/key` answers, or the bare base64; null for none of them. */
export function readPublicKey(text: string): string | null {
  const bare = /-----BEGIN PUBLIC KEY-----([^-]+)-----END PUBLIC KEY-----/.exec(text)?.[1] ?? memberOf(text) ?? text;
  const publicKey = bare.replace(/\s+/g, "");
  return toPublicKey(publicKey) === null ? null : publicKey;
}

function memberOf(text: string): string | null {
  try {
    const { publicKey } = JSON.parse(text);
    return typeof publicKey === "string" ? publicKey : null;
  } catch {
    return null;
  }
}

export const publicPemOf = (publicKey: string): string =>
  `-----BEGIN PUBLIC KEY-----\n${publicKey}\n-----END PUBLIC KEY-----\n`;
