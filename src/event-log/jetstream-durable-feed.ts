import { setTimeout as pause } from "node:timers/promises";
import type { AlertEvent } from "../domain/alerts/events.ts";
import type { JobEvent } from "../domain/job/events.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { type DurableConsumer, ensureDurable, nextMessages } from "../nats/consumers.ts";
import { openPull } from "../nats/pull.ts";
import type { AlertFeed, DecisionFeed } from "./decision-feed.ts";
import type { Delivery } from "./delivery.ts";
import { alertsRef, type WaybillEvent } from "./event-log.ts";
import { type Notice, readDelivery } from "./jetstream-durable.ts";
import { channelFilter, streamName, subjectOf } from "./subjects.ts";

const batch = 200;
const retryAfterMs = 500;

/**
 * Yields the deliveries of a durable consumer in batches that are never empty, until the signal aborts. Lost
 * connections are re-established, and a consumer that was deleted is created again. The consumer's filter decides which
 * types of events can come.
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

const ackWaitMs = 10_000;

/** `name` is the consumer's: readers with the same name share the decisions, and each name receives every decision. */
export function createJetStreamDecisionFeed(
  connection: JetStreamConnection,
  prefix: string,
  name: string,
  notice: Notice,
): DecisionFeed {
  const filterSubject = channelFilter(prefix, "job");
  const consumer = { stream: streamName(prefix, "JOBS"), name, filterSubject, ackWaitMs };
  return { batches: (signal) => readDurable<JobEvent>(connection, prefix, consumer, notice, signal) };
}

/** All instances share the one consumer of the alerts. */
export function createJetStreamAlertFeed(connection: JetStreamConnection, prefix: string, notice: Notice): AlertFeed {
  const filterSubject = subjectOf(prefix, alertsRef, "alert");
  const consumer = { stream: streamName(prefix, "JOBS"), name: "alerts", filterSubject, ackWaitMs };
  return { batches: (signal) => readDurable<AlertEvent>(connection, prefix, consumer, notice, signal) };
}
