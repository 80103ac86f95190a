import type { Instant } from "../domain/message.ts";
import type { SuppressionReason } from "../domain/recipients/events.ts";

/** An address that is never mailed. `email` is null once the clear text was dropped; the address stays suppressed. */
export type Suppression = {
  readonly email: string | null;
  readonly reason: SuppressionReason;
  readonly createdAt: Instant;
  /** The id of the event that caused it; dropped together with the address, and absent where no event did. */
  readonly event?: string;
};

/** Names an address without revealing it: see address-digest.ts. */
export type AddressKey = { readonly tenant: string; readonly digest: string };

export type SuppressionPage = {
  /** In the order in which they were added. Fewer than asked for, or none, where many were removed: more may follow. */
  readonly suppressions: readonly Suppression[];
  /** The `after` of the next page; null after the last one. */
  readonly next: number | null;
};

export type PageRequest = { readonly after: number; readonly limit: number };

/**
 * The suppression lists of all tenants, as the leader of the store has them. Every method throws Unavailable, and can
 * then be called again: each is idempotent.
 */
export interface SuppressionStore {
  /** The secret for digests and links: 32 bytes, created on the first call and never changed. */
  secret(): Promise<Buffer>;

  find(key: AddressKey): Promise<Suppression | null>;

  /**
   * Adds the suppression unless the address has one, and returns what is stored then. `ofJob` names the job if a mail of
   * it was the cause: the mail server refused the address, or the recipient unsubscribed. What an event caused is not added
   * where the address was removed from the list since: events are acted on again after a crash. Throws LogFull.
   */
  put(
    key: AddressKey,
    suppression: Suppression,
    ofJob?: string,
  ): Promise<{ readonly isNew: boolean; readonly suppression: Suppression }>;

  /** Lets the address be mailed again, and keeps since when. False if it was not there. Throws LogFull. */
  remove(key: AddressKey, at: Instant): Promise<boolean>;

  /**
   * Drops the clear-text address, which stays suppressed, and overwrites its old record. With a job, only if a mail of that
   * job was the cause. False if it was not there.
   */
  forget(key: AddressKey, ofJob?: string): Promise<boolean>;

  /** Reads one page; memory does not depend on the length of the list. */
  page(tenant: string, request: PageRequest): Promise<SuppressionPage>;
}
