import type { Instant } from "../domain/message.ts";
import type { SuppressionReason } from "../domain/recipients/events.ts";
import type { JobRef } from "../event-log/event-log.ts";
import type { PageRequest, Suppression, SuppressionPage, SuppressionStore } from "./suppression-store.ts";
import { createKeyed, type UnsubscribeLinks, type Unsubscribing } from "./unsubscribe-links.ts";

export type Suppressing = { readonly isNew: boolean; readonly suppression: Suppression };

/** The addresses that are never mailed: one list for each tenant. Every method throws Unavailable. */
export interface SuppressionList {
  find(tenant: string, email: string): Promise<Suppression | null>;

  /** An address that is on the list already stays as it is. Throws LogFull. */
  add(tenant: string, email: string, reason: SuppressionReason, at: Instant): Promise<Suppressing>;

  /** Removes an address from the list, so that it may be mailed again. False if it was not there. */
  remove(tenant: string, email: string, at: Instant): Promise<boolean>;

  /** For the erasure of a person: drops the clear-text address, which stays suppressed. False if it was not there. */
  forgetAddress(tenant: string, email: string): Promise<boolean>;

  /** The same for those of these addresses that a mail of the job put on the list. */
  forgetAddressesOf(job: JobRef, emails: readonly string[]): Promise<void>;

  page(tenant: string, request: PageRequest): Promise<SuppressionPage>;

  /** The links with which recipients unsubscribe. */
  links(): Promise<UnsubscribeLinks>;

  /**
   * Carries out the request of a link. `emailOf` finds the address if the content of the job still holds it. `event` is the id of the one that records it. Throws LogFull.
   */
  unsubscribe(
    link: Unsubscribing,
    emailOf: (job: JobRef, recipient: number) => Promise<string | null>,
    at: Instant,
    event?: string,
  ): Promise<void>;
}

/** A job has up to a thousand recipients, few of which are on the list. */
const askedAtOnce = 20;

export function createSuppressionList(store: SuppressionStore): SuppressionList {
  const keyed = createKeyed(store);
  const keyOf = async (tenant: string, email: string) => ({ tenant, digest: (await keyed()).digest(tenant, email) });

  return {
    find: async (tenant, email) => await store.find(await keyOf(tenant, email)),
    add: async (tenant, email, reason, createdAt) =>
      await store.put(await keyOf(tenant, email), { email, reason, createdAt }),
    remove: async (tenant, email, at) => await store.remove(await keyOf(tenant, email), at),
    forgetAddress: async (tenant, email) => await store.forget(await keyOf(tenant, email)),
    forgetAddressesOf: async ({ tenant, jobId }, emails) => {
      const left = [...emails];
      const forgetSome = async (): Promise<void> => {
        for (let email = left.pop(); email !== undefined; email = left.pop()) {
          await store.forget(await keyOf(tenant, email), jobId);
        }
      };
      await Promise.all(Array.from({ length: askedAtOnce }, forgetSome));
    },
    page: (tenant, request) => store.page(tenant, request),
    links: async () => (await keyed()).links,
    unsubscribe: async ({ job, recipient, digest }, emailOf, createdAt, event) => {
      const key = { tenant: job.tenant, digest };
      const known = await store.find(key);
      if (known !== null) {
        // Stored by a request that got no answer, perhaps, while the content was erased.
        if (known.email !== null && (await emailOf(job, recipient)) === null) await store.forget(key, job.jobId);
        return;
      }
      const email = await emailOf(job, recipient);
      // The digest was made from this content, so the two agree; even so, no address is stored under the digest of another.
      const isTheirs = email !== null && (await keyOf(job.tenant, email)).digest === digest;
      const suppression = { email: isTheirs ? email : null, reason: "unsubscribe", createdAt } as const;
      await store.put(key, { ...suppression, ...(event !== undefined && { event }) }, job.jobId);
      // If the content was erased in between, the request to unsubscribe must not bring the address back.
      if (isTheirs && (await emailOf(job, recipient)) === null) await store.forget(key, job.jobId);
    },
  };
}
