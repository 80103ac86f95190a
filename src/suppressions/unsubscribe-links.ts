import { createHmac, timingSafeEqual } from "node:crypto";
import type { JobRef } from "../event-log/event-log.ts";
import { type AddressDigest, createAddressDigest, digestPattern, keyFor } from "./address-digest.ts";
import type { SuppressionStore } from "./suppression-store.ts";

/** The contents of a link: the address to suppress, by digest, and the mail that held the link. */
export type Unsubscribing = { readonly job: JobRef; readonly recipient: number; readonly digest: string };

/**
 * Tokens of links, for ever the same for the same mail: `<tenant>.<jobId>.<recipient>.<digest>.<signature>`. They contain
 * no address, and a link works even after the content of its job was erased.
 */
export type UnsubscribeLinks = {
  tokenFor(job: JobRef, recipient: number, email: string): string;
  /** Null for a token that this service has not signed. */
  read(token: string): Unsubscribing | null;
};

const signatureBytes = 16;
/** Longer than any token: a longer text is not parsed. */
const maxLength = 300;

export function createUnsubscribeLinks(secret: Buffer, digestOf: AddressDigest): UnsubscribeLinks {
  const key = keyFor(secret, "unsubscribe");
  const signatureOf = (claim: string): Buffer =>
    createHmac("sha256", key).update(claim).digest().subarray(0, signatureBytes);
  return {
    tokenFor: (job, recipient, email) => {
      const claim = `${job.tenant}.${job.jobId}.${recipient}.${digestOf(job.tenant, email)}`;
      return `${claim}.${signatureOf(claim).toString("base64url")}`;
    },
    read: (token) => {
      if (token.length > maxLength) return null;
      const end = token.lastIndexOf(".");
      const claim = token.slice(0, Math.max(0, end));
      // The length differs if the text is not base64url; equal lengths are compared in constant time.
      const given = Buffer.from(token.slice(end + 1), "base64url");
      const expected = signatureOf(claim);
      const isSigned = given.length === expected.length && timingSafeEqual(given, expected);
      return isSigned ? readClaim(claim) : null;
    },
  };
}

function readClaim(claim: string): Unsubscribing | null {
  const [tenant, jobId, recipient, digest, more] = claim.split(".");
  const isWhole = tenant && jobId && recipient && digest && more === undefined && digestPattern.test(digest);
  return isWhole ? { job: { tenant, jobId }, recipient: Number(recipient), digest } : null;
}

/** The path of a link, below the public URL of the service. */
export const unsubscribePath = "/unsubscribe";

export const unsubscribeUrl = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/+$/, "")}${unsubscribePath}/${token}`;

/** What is derived from the secret of the lists. */
export type Keyed = { readonly digest: AddressDigest; readonly links: UnsubscribeLinks };

/** Reads the secret once, when it is first needed. A call that throws Unavailable is repeated by the next one. */
export function createKeyed(store: Pick<SuppressionStore, "secret">): () => Promise<Keyed> {
  let keyed: Promise<Keyed> | null = null;
  const read = async (): Promise<Keyed> => {
    const secret = await store.secret();
    const digest = createAddressDigest(secret);
    return { digest, links: createUnsubscribeLinks(secret, digest) };
  };
  return () => {
    keyed ??= read().catch((failure: unknown) => {
      keyed = null;
      throw failure;
    });
    return keyed;
  };
}
