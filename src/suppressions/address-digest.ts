import { createHmac, createSecretKey, hkdfSync } from "node:crypto";
import { domainToASCII } from "node:url";

/** The same name for the same address of a tenant. Who does not have the secret can neither read nor guess it. */
export type AddressDigest = (tenant: string, email: string) => string;

/** 128 bits in base64url: no two addresses meet by chance, and it is one token of a subject. */
const digestBytes = 16;

export const digestPattern = /^[A-Za-z0-9_-]{22}$/;

export function createAddressDigest(secret: Buffer): AddressDigest {
  const key = keyFor(secret, "address");
  return (tenant, email) =>
    createHmac("sha256", key)
      .update(`${tenant}\n${normalisedAddress(email)}`)
      .digest()
      .subarray(0, digestBytes)
      .toString("base64url");
}

/** A key of its own for each use, so that what one of them tells is of no use for another. */
export const keyFor = (secret: Buffer, use: "address" | "unsubscribe") =>
  createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", `waybill ${use}`, 32)));

const isAscii = /^[\x21-\x7e]+$/;

/**
 * The same text for the same address, whatever its case, and whichever way its letters and its domain are written. What
 * only some providers take for the same (dots, a `+` and what follows) is another address.
 */
export function normalisedAddress(email: string): string {
  const lower = email.normalize("NFC").toLowerCase();
  if (isAscii.test(lower)) return lower;
  const at = lower.lastIndexOf("@");
  return `${lower.slice(0, at)}@${domainToASCII(lower.slice(at + 1))}`;
}
