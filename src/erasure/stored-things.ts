import type { JobRef } from "../event-log/event-log.ts";

/** The content of a job, or one of its attachments (by SHA-256), which may have outlived the content that names it. */
export type StoredThing = { readonly job: JobRef; readonly attachment: string | null };

/** `settle` says that the thing need not be looked at again; what is not settled comes back a minute later. */
export type UnsettledThing = StoredThing & { settle(): void };

/**
 * What is stored beside the log, in the order in which it was stored, until it has been settled once. So only new things
 * cost anything, however many jobs there were. Throws Unavailable.
 */
export interface StoredThings {
  /** Some of those stored before this time (milliseconds since 1970); empty if there are no more. */
  unsettled(storedBeforeMs: number): Promise<readonly UnsettledThing[]>;

  /** The jobs of a tenant whose content is not settled, and when it was stored. */
  unsettledOf(tenant: string): AsyncIterable<{ readonly job: JobRef; readonly storedAtMs: number }>;
}
