import { setTimeout as pause } from "node:timers/promises";
import type { Msg } from "nats";
import type { JobEvent } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";
import type { JetStreamConnection } from "../event-log/jetstream-connection.ts";
import {
  type DurableConsumer,
  ensureDurable,
  type Notice,
  nextMessages,
  readDelivery,
} from "../event-log/jetstream-durable.ts";
import { openPull } from "../event-log/jetstream-pull.ts";
import { channelFilter, streamName } from "../event-log/subjects.ts";
import type { DecisionFeed } from "./decision-feed.ts";

const batch = 200;
const retryAfterMs = 500;

/** `name` is the consumer's: those who share one share the work, and each name hears of every decision. */
export function createJetStreamDecisionFeed(
  connection: JetStreamConnection,
  prefix: string,
  name: string,
  notice: Notice,
): DecisionFeed {
  const consumer: DurableConsumer = {
    stream: streamName(prefix, "JOBS"),
    name,
    filterSubject: channelFilter(prefix, "job"),
    ackWaitMs: 10_000,
  };

  const toDeliveries = (messages: readonly Msg[]): Delivery<JobEvent>[] =>
    messages.flatMap((message) => readDelivery<JobEvent>(connection, prefix, message, notice) ?? []);

  return {
    batches: async function* (signal) {
      while (!signal.aborted) {
        try {
          await ensureDurable(connection, consumer);
          const pull = openPull(connection, nextMessages(consumer.stream, consumer.name), batch);
          signal.addEventListener("abort", pull.close, { once: true });
          try {
            while (!signal.aborted) {
              const deliveries = toDeliveries(await pull.next());
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
    },
  };
}
