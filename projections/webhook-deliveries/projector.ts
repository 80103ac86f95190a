import type { Knex } from "knex";
import { deliveryAfter } from "../../src/domain/webhooks/delivery.ts";
import type { WebhookEvent } from "../../src/domain/webhooks/events.ts";
import type { StoredEvent } from "../../src/event-log/event-log.ts";
import type { ProjectionTarget, Projector, Suffix } from "../projector.ts";
import { putRows } from "../write-rows.ts";
import { type DeliveryRow, toDeliveryRow, toDeliveryState } from "./rows.ts";
import { webhookDeliveriesTable, webhookDeliveryTableDefinitions } from "./tables.ts";

/** Who was told of which job, and whom it is tried again with. */
export const webhookDeliveriesProjector: Projector = {
  name: "webhook-deliveries",
  version: 1,
  tables: webhookDeliveryTableDefinitions,
  views: {},
  isOfConcern: isNotice,
  project,
};

/** Longer lists make MariaDB turn them into a join. */
const loadedAtOnce = 500;

async function project(events: readonly StoredEvent[], { transaction, suffix }: ProjectionTarget): Promise<void> {
  const notices = events.filter(isNotice);
  const ids = [...new Set(notices.map(({ event }) => event.data.deliveryId))].sort();
  const before = await load(transaction, suffix, ids);
  const after = new Map(before);
  for (const notice of notices) {
    const { deliveryId } = notice.event.data;
    const row = rowAfter(after.get(deliveryId), notice);
    if (row !== undefined) after.set(deliveryId, row);
  }
  const rows = [...after.values()].filter((row) => before.get(row.delivery_id) !== row);
  const [first] = rows;
  if (first === undefined) return;
  const columns = Object.keys(first) as (keyof DeliveryRow)[];
  await putRows<DeliveryRow>(transaction, { table: webhookDeliveriesTable(suffix), columns, rows });
}

/** The same row where the event is without effect: it is not written then, and stays with whoever has it in hand. */
function rowAfter(before: DeliveryRow | undefined, notice: StoredEvent<WebhookEvent>): DeliveryRow | undefined {
  const state = before && toDeliveryState(before);
  const next = deliveryAfter(state, notice.event);
  return next === undefined || next === state
    ? before
    : toDeliveryRow(next, notice, before?.sequence ?? notice.sequence);
}

function isNotice(stored: StoredEvent): stored is StoredEvent<WebhookEvent> {
  return stored.channel === "notify" && stored.event.type.startsWith("Webhook");
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
