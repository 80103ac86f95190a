import type { Instant } from "../domain/message.ts";
import type { SuppressionReason } from "../domain/recipients/events.ts";

/** An address that is never mailed. Null where it was forgotten: that it is not to be mailed is known all the same. */
export type Suppression = {
  readonly email: string | null;
  readonly reason: SuppressionReason;
  readonly createdAt: Instant;
};

/** Names an address without telling it: see address-digest.ts. */
export type AddressKey = { readonly tenant: string; readonly digest: string };

export type SuppressionPage = {
  /** In the order in which they were put there. */
  readonly suppressions: readonly Suppression[];
  /** What `after` must be for those that follow; null after the last. */
  readonly next: number | null;
};

export type PageRequest = { readonly after: number; readonly limit: number };

/**
 * The suppression lists of all tenants, as the leader of the store has them. Every method throws Unavailable; said
 * again after that, each does what it was to do and no more.
 */
export interface SuppressionStore {
  /** What makes digests and signs links: 32 bytes, made when they are first asked for, and the same ever after. */
  secret(): Promise<Buffer>;

  find(key: AddressKey): Promise<Suppression | null>;

  /**
   * Puts it there unless it is there; what is there then. It keeps which job it came from, where it came from a mail: the
   * mail server refused the address, or its recipient unsubscribed. Throws LogFull.
   */
  put(
    key: AddressKey,
    suppression: Suppression,
    ofJob?: string,
  ): Promise<{ readonly isNew: boolean; readonly suppression: Suppression }>;

  /** False where it was not there. */
  remove(key: AddressKey): Promise<boolean>;

  /**
   * Drops the address, overwritten where it was stored, and keeps that it is never mailed; with a job, only where it
   * came from that one. False where it was not there.
   */
  forget(key: AddressKey, ofJob?: string): Promise<boolean>;

  /** However many there are, it holds no more than a page of them. */
  page(tenant: string, wish: PageRequest): Promise<SuppressionPage>;
}
