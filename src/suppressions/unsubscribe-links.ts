import { createHmac, timingSafeEqual } from "node:crypto";
import type { JobRef } from "../event-log/event-log.ts";
import { type AddressDigest, createAddressDigest, digestPattern, keyFor } from "./address-digest.ts";
import type { SuppressionStore } from "./suppression-store.ts";

/** What a link says: whom to mail no more, and which mail it stood in. */
export type Unsubscribing = { readonly job: JobRef; readonly recipient: number; readonly digest: string };

/**
 * Tokens of links, for ever the same for the same mail: `<tenant>.<jobId>.<recipient>.<digest>.<signature>`. No address
 * is in them, and the content of the job need not be there any more when one is used.
 */
export type UnsubscribeLinks = {
  tokenFor(job: JobRef, recipient: number, email: string): string;
  /** Null where this service has not signed it. */
  read(token: string): Unsubscribing | null;
};

const signatureBytes = 16;
/** Longer than any token: what is longer is not even looked at. */
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
      // Of another length where what stands there is no base64url, and compared byte for byte in the same time.
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

/** Where a link leads, below the address at which the service is reached from outside. */
export const unsubscribePath = "/unsubscribe";

export const unsubscribeUrl = (publicUrl: string, token: string): string =>
  `${publicUrl.replace(/\/+$/, "")}${unsubscribePath}/${token}`;

/** What is made with the secret of the lists. */
export type Keyed = { readonly digest: AddressDigest; readonly links: UnsubscribeLinks };

/** Asks for the secret once, when it is first needed. Throws Unavailable, and asks again the next time. */
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
