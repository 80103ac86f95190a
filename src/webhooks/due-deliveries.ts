import type { JobRef } from "../event-log/event-log.ts";

/** A delivery whose next attempt is due, as far as a read model knows. */
export type DueDelivery = JobRef & { readonly deliveryId: string };

/** What waits for its next attempt, whichever process asks. */
export interface DueDeliveries {
  /**
   * Hands over up to `limit` deliveries that are due, the longest due first, and hides them from everybody for
   * `leaseMs`: one whose outcome was not recorded by then, because the process died, is handed over again.
   */
  take(limit: number, leaseMs: number): Promise<readonly DueDelivery[]>;
}
