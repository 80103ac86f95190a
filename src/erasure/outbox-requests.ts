export type AddressInOutbox = {
  /** Rows that named it, and do not any more. */
  readonly erased: number;
  /** Rows that name it and are still to become jobs. */
  readonly waiting: readonly string[];
};

/**
 * What stands in rows of the outbox that were dealt with: requests, which hold what was sent and to whom, and problems,
 * which quote them. Nobody but the application needs them any more. Rows stay, with a request that says when it was
 * erased. Done again, it comes to the same. Throws what the database threw.
 */
export interface OutboxRequests {
  /** Erases the request of a tenant's row; one that still waits, or is gone, is left as it is. */
  eraseRow(tenant: string, rowId: string): Promise<void>;

  /** Erases every request of a tenant's rows that names the address, in any case. It looks through the whole table. */
  eraseAddress(tenant: string, address: string): Promise<AddressInOutbox>;
}
