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
