import type { Knex } from "knex";
import { putRows } from "../../src/database/write-rows.ts";
import { deliveryAfter } from "../../src/domain/webhooks/delivery.ts";
import type { WebhookEvent } from "../../src/domain/webhooks/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import type { EventOf, ProjectionTarget, Projector, Suffix } from "../projector.ts";
import { type DeliveryRow, toDeliveryRow, toDeliveryState } from "./rows.ts";
import { webhookDeliveriesTable, webhookDeliveryTableDefinitions } from "./tables.ts";

/** Who was told of which job, and whom it is tried again with. */
export const webhookDeliveriesProjector: Projector<Notice["event"] | Erasure["event"]> = {
  name: "webhook-deliveries",
  version: 1,
  alsoWritten: { webhook_deliveries: ["due_at"] },
  tables: webhookDeliveryTableDefinitions,
  views: {},
  handles: ["WebhookDelivered", "WebhookFailed", "WebhookRedeliveryRequested", "JobContentErased"],
  project,
};

type Notice = StoredEvent<WebhookEvent>;
type Erasure = StoredEvent<EventOf<"JobContentErased">>;

const isErasure = (stored: Notice | Erasure): stored is Erasure => stored.event.type === "JobContentErased";
const isNotice = (stored: Notice | Erasure): stored is Notice => !isErasure(stored);

/** Longer lists make MariaDB turn them into a join. */
const loadedAtOnce = 500;

async function project(
  events: readonly (Notice | Erasure)[],
  { transaction, suffix }: ProjectionTarget,
): Promise<void> {
  const ids = [...new Set(events.filter(isNotice).map(({ event }) => event.data.deliveryId))].sort();
  const before = await load(transaction, suffix, ids);
  const after = new Map(before);
  const retired = new Set<string>();
  for (const stored of events) {
    if (isErasure(stored)) {
      // What was told of a job that is in no list any more goes with it.
      if (!stored.event.data.isRetired) continue;
      retired.add(stored.jobId);
      for (const [deliveryId, row] of after) if (row.job_id === stored.jobId) after.delete(deliveryId);
    } else {
      const { deliveryId } = stored.event.data;
      const row = rowAfter(after.get(deliveryId), stored);
      if (row !== undefined) after.set(deliveryId, row);
    }
  }
  for (const jobId of retired) await transaction(webhookDeliveriesTable(suffix)).where({ job_id: jobId }).delete();
  const rows = [...after.values()].filter((row) => before.get(row.delivery_id) !== row);
  const [first] = rows;
  if (first !== undefined) {
    const columns = Object.keys(first) as (keyof DeliveryRow)[];
    await putRows<DeliveryRow>(transaction, { table: webhookDeliveriesTable(suffix), columns, rows });
  }
}

/** The same row where the event is without effect: it is not written then, and stays with whoever has it in hand. */
function rowAfter(before: DeliveryRow | undefined, notice: Notice): DeliveryRow | undefined {
  const state = before && toDeliveryState(before);
  const next = deliveryAfter(state, notice.event);
  return next === undefined || next === state
    ? before
    : toDeliveryRow(next, notice, before?.sequence ?? notice.sequence);
}

async function load(
  transaction: Knex.Transaction,
  suffix: Suffix,
  ids: readonly string[],
): Promise<Map<string, DeliveryRow>> {
  const found = new Map<string, DeliveryRow>();
  for (let first = 0; first < ids.length; first += loadedAtOnce) {
    const some = ids.slice(first, first + loadedAtOnce);
    const rows: DeliveryRow[] = await transaction(webhookDeliveriesTable(suffix)).whereIn("delivery_id", some).select();
    for (const row of rows) found.set(row.delivery_id, row);
  }
  return found;
}
