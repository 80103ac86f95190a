import type { Instant } from "../domain/message.ts";
import type { SuppressionReason } from "../domain/recipients/events.ts";
import type { JobRef } from "../event-log/event-log.ts";
import type { PageRequest, Suppression, SuppressionPage, SuppressionStore } from "./suppression-store.ts";
import { createKeyed, type UnsubscribeLinks, type Unsubscribing } from "./unsubscribe-links.ts";

export type Suppressing = { readonly isNew: boolean; readonly suppression: Suppression };

/** Who is never mailed, a list for each tenant, by address. Every method throws Unavailable. */
export interface SuppressionList {
  find(tenant: string, email: string): Promise<Suppression | null>;

  /** Who is there already stays as they were put there. Throws LogFull. */
  add(tenant: string, email: string, reason: SuppressionReason, at: Instant): Promise<Suppressing>;

  /** Takes an address off the list: it may be mailed again. False where it was not there. */
  remove(tenant: string, email: string): Promise<boolean>;

  /** Drops the address and keeps that it is never mailed, as whoever erases a person needs it. False where it was not there. */
  forgetAddress(tenant: string, email: string): Promise<boolean>;

  /** The same for those of these addresses that came onto the list by a mail of the job. */
  forgetAddressesOf(job: JobRef, emails: readonly string[]): Promise<void>;

  page(tenant: string, wish: PageRequest): Promise<SuppressionPage>;

  /** Of mails by which their recipients ask not to be mailed any more. */
  links(): Promise<UnsubscribeLinks>;

  /**
   * What a link asks for. The list is given the address where somebody still has it; `emailOf` is asked only where it
   * is not there yet. Throws LogFull.
   */
  unsubscribe(
    link: Unsubscribing,
    emailOf: (job: JobRef, recipient: number) => Promise<string | null>,
    at: Instant,
  ): Promise<void>;
}

/** A job has up to a thousand recipients, few of whom are on the list. */
const askedAtOnce = 20;

export function createSuppressionList(store: SuppressionStore): SuppressionList {
  const keyed = createKeyed(store);
  const keyOf = async (tenant: string, email: string) => ({ tenant, digest: (await keyed()).digest(tenant, email) });

  return {
    find: async (tenant, email) => await store.find(await keyOf(tenant, email)),
    add: async (tenant, email, reason, createdAt) =>
      await store.put(await keyOf(tenant, email), { email, reason, createdAt }),
    remove: async (tenant, email) => await store.remove(await keyOf(tenant, email)),
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
    page: (tenant, wish) => store.page(tenant, wish),
    links: async () => (await keyed()).links,
    unsubscribe: async ({ job, recipient, digest }, emailOf, createdAt) => {
      const key = { tenant: job.tenant, digest };
      if ((await store.find(key)) !== null) return;
      const email = await emailOf(job, recipient);
      // The content of a job is what was signed for; all the same, nobody is put there under another's digest.
      const isTheirs = email !== null && (await keyOf(job.tenant, email)).digest === digest;
      await store.put(key, { email: isTheirs ? email : null, reason: "unsubscribe", createdAt }, job.jobId);
      // Erased in between, the address must not be left here by its reader's own wish.
      if (isTheirs && (await emailOf(job, recipient)) === null) await store.forget(key, job.jobId);
    },
  };
}
