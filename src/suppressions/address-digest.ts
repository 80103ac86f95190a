import { createHmac, createSecretKey, hkdfSync } from "node:crypto";
import { normalisedAddress } from "../domain/recipients/address.ts";

/** The same digest for the same address of a tenant. Without the secret it can neither be read nor guessed. */
export type AddressDigest = (tenant: string, email: string) => string;

/** 128 bits in base64url: two addresses do not collide by chance, and a digest is one token of a subject. */
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

/** A separate key for each use, so that the output of one reveals nothing about another. */
export const keyFor = (secret: Buffer, use: "address" | "unsubscribe" | "return path") =>
  createSecretKey(Buffer.from(hkdfSync("sha256", secret, "", `waybill ${use}`, 32)));
