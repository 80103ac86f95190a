import { setTimeout as pause } from "node:timers/promises";
import type { JetStreamConnection } from "../nats/connection.ts";
import { openPull } from "../nats/pull.ts";
import type { Delivery } from "./delivery.ts";
import type { WaybillEvent } from "./event-log.ts";
import { type DurableConsumer, ensureDurable, type Notice, nextMessages, readDelivery } from "./jetstream-durable.ts";

const batch = 200;
const retryAfterMs = 500;

/**
 * What a durable consumer is handed, in batches that are never empty, until the signal aborts. Lost connections are
 * taken up again, and a consumer that somebody deleted is made anew. Which events there are is said by its filter.
 */
export async function* readDurable<Event extends WaybillEvent>(
  connection: JetStreamConnection,
  prefix: string,
  consumer: DurableConsumer,
  notice: Notice,
  signal: AbortSignal,
): AsyncGenerator<readonly Delivery<Event>[]> {
  while (!signal.aborted) {
    try {
      await ensureDurable(connection, consumer);
      const pull = openPull(connection, nextMessages(consumer.stream, consumer.name), batch);
      signal.addEventListener("abort", pull.close, { once: true });
      try {
        while (!signal.aborted) {
          const messages = await pull.next();
          const deliveries = messages.flatMap(
            (message) => readDelivery<Event>(connection, prefix, message, notice) ?? [],
          );
          if (deliveries.length > 0) yield deliveries;
        }
      } finally {
        signal.removeEventListener("abort", pull.close);
        pull.close();
      }
    } catch {
      await pause(retryAfterMs, undefined, { signal }).catch(() => {});
    }
  }
}
