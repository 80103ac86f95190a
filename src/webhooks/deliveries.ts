import type { WebhookEvent } from "../domain/webhooks/events.ts";
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";

/** The recorded deliveries of a job, oldest first, as the leader of the log has them. */
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

/** The deliveries that wait for their next attempt, shared by all processes. */
export interface DueDeliveries {
  /**
   * Takes up to `limit` deliveries that are due, the longest due first, and hides them from every process for `leaseMs`.
   * A delivery whose outcome was not recorded by then, because the process died, can be taken again.
   */
  take(limit: number, leaseMs: number): Promise<readonly DueDelivery[]>;
}
