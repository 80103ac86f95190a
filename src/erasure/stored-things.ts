import type { JobRef } from "../event-log/event-log.ts";

/** The content of a job, or with a SHA-256 one of its attachments, which may have outlived the content that names it. */
export type StoredThing = { readonly job: JobRef; readonly attachment: string | null };

/** `settle` says that it need not be looked at again; what nobody settles comes back a minute later. */
export type UnsettledThing = StoredThing & { settle(): void };

/**
 * What is stored beside the log, in the order in which it was stored, each until it has been looked at once: however many
 * jobs there were, only what is new costs anything. Throws Unavailable.
 */
export interface StoredThings {
  /** Some of those that were stored before then (milliseconds since 1970); empty where there are none (any more). */
  unsettled(storedBeforeMs: number): Promise<readonly UnsettledThing[]>;

  /** The jobs of a tenant whose content nobody has settled, and when it was stored. */
  unsettledOf(tenant: string): AsyncIterable<{ readonly job: JobRef; readonly storedAtMs: number }>;
}
