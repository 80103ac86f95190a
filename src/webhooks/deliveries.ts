import type { WebhookEvent } from "../domain/webhooks/events.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";

/** What was recorded of the webhooks of a job, oldest first, as the leader of the log has it. */
export async function readDeliveries(
  log: Pick<EventLog, "readNotices">,
  job: JobRef,
): Promise<readonly StoredEvent<WebhookEvent>[]> {
  return (await log.readNotices(job)).filter(isOfWebhook);
}

const isOfWebhook = (notice: StoredEvent): notice is StoredEvent<WebhookEvent> =>
  notice.event.type !== "NotificationRead";

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
