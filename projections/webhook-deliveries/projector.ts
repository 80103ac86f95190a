import type { MailingEvent } from "../../src/domain/mailing/events.ts";
import { deliveryAfter } from "../../src/domain/webhooks/delivery.ts";
import type { WebhookEvent } from "../../src/domain/webhooks/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import { idsOf, loadRows } from "../batch.ts";
import type { EventOf, ProjectionTarget, Projector } from "../projector.ts";
import {
  type DeliveryRow,
  toDeliveryRow,
  toDeliveryState,
  webhookDeliveriesTable,
  webhookDeliveryTableDefinitions,
} from "./rows.ts";

/** The messages sent about each job and each mailing, and the next attempts. */
export const webhookDeliveriesProjector: Projector<Notice["event"] | Erasure["event"]> = {
  name: "webhook-deliveries",
  version: 1,
  alsoWritten: { webhook_deliveries: ["due_at"] },
  tables: webhookDeliveryTableDefinitions,
  views: {},
  handles: [
    "WebhookDelivered",
    "WebhookFailed",
    "WebhookRedeliveryRequested",
    "JobContentErased",
    "MailingContentErased",
  ],
  project,
};

type Notice = StoredEvent<WebhookEvent>;
type Erasure = StoredEvent<EventOf<"JobContentErased"> | Extract<MailingEvent, { type: "MailingContentErased" }>>;

const isErasure = (stored: Notice | Erasure): stored is Erasure =>
  stored.event.type === "JobContentErased" || stored.event.type === "MailingContentErased";
const isNotice = (stored: Notice | Erasure): stored is Notice => !isErasure(stored);

async function project(
  events: readonly (Notice | Erasure)[],
  { transaction, suffix }: ProjectionTarget,
): Promise<void> {
  const table = webhookDeliveriesTable(suffix);
  const ids = idsOf(events.filter(isNotice), ({ event }) => event.data.deliveryId);
  const rows = await loadRows<DeliveryRow>(transaction, table, ["delivery_id"], ids);
  const retired = new Set<string>();
  for (const stored of events) {
    if (isErasure(stored)) {
      // When a job or a mailing is retired from all lists, its deliveries are deleted with it.
      if (stored.event.type === "JobContentErased" && !stored.event.data.isRetired) continue;
      retired.add(stored.jobId);
      for (const row of rows.all()) if (row.job_id === stored.jobId) rows.remove(row);
    } else {
      const row = rowAfter(rows.find(stored.event.data.deliveryId), stored);
      if (row !== undefined) rows.put(row);
    }
  }
  // Includes rows that no event of the batch is about.
  for (const jobId of retired) await transaction(table).where({ job_id: jobId }).delete();
  await rows.write();
}

/**
 * The same object if the event has no effect: the row is then not written, and stays with the process that is working
 * on it.
 */
function rowAfter(before: DeliveryRow | undefined, notice: Notice): DeliveryRow | undefined {
  const state = before && toDeliveryState(before);
  const next = deliveryAfter(state, notice.event);
  return next === undefined || next === state
    ? before
    : toDeliveryRow(next, notice, before?.sequence ?? notice.sequence);
}
