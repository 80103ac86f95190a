import { type AddressDigest, createAddressDigest } from "./address-digest.ts";
import type { SuppressionStore } from "./suppression-store.ts";
import { createUnsubscribeLinks, type UnsubscribeLinks } from "./unsubscribe-links.ts";

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
