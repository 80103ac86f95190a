type Bytes = Uint8Array<ArrayBuffer>;

export const bytesOf = (text: string): Bytes => new TextEncoder().encode(text);

export const sha256 = async (...parts: readonly Uint8Array[]): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", joined(parts)));

export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const fromHex = (hex: string): Bytes =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

function joined(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Null for a text that is not base64, or not as base64 is written: several texts would stand for the same bytes. */
export function fromBase64(text: string): Bytes | null {
  try {
    const binary = atob(text);
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : null;
  } catch {
    return null;
  }
}

/** What comes before the 32 bytes of the key in the DER of every public Ed25519 key (RFC 8410). */
const derHead = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

export const isPublicKey = (publicKey: string): boolean => {
  const der = fromBase64(publicKey);
  return der !== null && der.length === derHead.length + 32 && derHead.every((byte, at) => der[at] === byte);
};

/** Names a key for people. */
export const keyIdOf = async (publicKey: string): Promise<string> =>
  toHex(await sha256(fromBase64(publicKey) ?? bytesOf(""))).slice(0, 16);

/** Ed25519. Throws where the runtime has no Ed25519 in WebCrypto. */
export async function isSigned(publicKey: string, signature: string, signed: Bytes): Promise<boolean> {
  const bytes = fromBase64(signature);
  if (bytes === null || !isPublicKey(publicKey)) return false;
  const der = fromBase64(publicKey) as Bytes;
  const key = await crypto.subtle.importKey("spki", der, { name: "Ed25519" }, false, ["verify"]);
  return await crypto.subtle.verify({ name: "Ed25519" }, key, bytes, signed);
}

type Entry = {
  readonly sequence: number;
  readonly storedAt: string;
  readonly subject: string;
  readonly body: string;
};

const leafMark = Uint8Array.of(0x00);
const nodeMark = Uint8Array.of(0x01);

export const leafHashOf = ({ sequence, storedAt, subject, body }: Entry): Promise<Bytes> =>
  sha256(leafMark, bytesOf(`waybill.log.v1\n${sequence}\n${storedAt}\n${subject}\n${body}`));

/** The root that a leaf and its path lead to (RFC 9162, 2.1.3.2); null for a path that cannot be of this place. */
export async function rootOfPath(
  leaf: Bytes,
  index: number,
  size: number,
  path: readonly string[],
): Promise<string | null> {
  if (index >= size) return null;
  let place = index;
  let last = size - 1;
  let node = leaf;
  for (const neighbour of path.map(fromHex)) {
    if (last === 0) return null;
    if (place % 2 === 1 || place === last) {
      node = await sha256(nodeMark, neighbour, node);
      while (place % 2 === 0 && place !== 0) {
        place /= 2;
        last = Math.floor(last / 2);
      }
    } else {
      node = await sha256(nodeMark, node, neighbour);
    }
    place = Math.floor(place / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? toHex(node) : null;
}
