import { setTimeout as pause } from "node:timers/promises";
import type { Msg } from "nats";
import type { JobEvent } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";
import { decodeEnvelope } from "../event-log/envelope.ts";
import type { StoredEvent } from "../event-log/event-log.ts";
import type { JetStreamConnection } from "../event-log/jetstream-connection.ts";
import { type DurableConsumer, ensureDurable, nextMessages, toDelivery } from "../event-log/jetstream-durable.ts";
import { placeOf } from "../event-log/jetstream-message.ts";
import { openPull } from "../event-log/jetstream-pull.ts";
import { channelFilter, parseSubject, streamName } from "../event-log/subjects.ts";
import type { DecisionFeed } from "./decision-feed.ts";

const batch = 200;
const retryAfterMs = 500;

/** Tells an operator about what was passed over. */
type Notice = (message: string) => void;

export function createJetStreamDecisionFeed(
  connection: JetStreamConnection,
  prefix: string,
  notice: Notice,
): DecisionFeed {
  const consumer: DurableConsumer = {
    stream: streamName(prefix, "JOBS"),
    name: "scheduler",
    filterSubject: channelFilter(prefix, "job"),
    ackWaitMs: 10_000,
  };

  const toDeliveries = (messages: readonly Msg[]): Delivery<JobEvent>[] =>
    messages.flatMap((message) => {
      try {
        const place = parseSubject(prefix, message.subject);
        const entry = decodeEnvelope(place, placeOf(message).streamSequence, message.data);
        if ("event" in entry) return [toDelivery(connection, message, entry as StoredEvent<JobEvent>)];
      } catch (failure) {
        notice(String(failure));
      }
      // Nothing can be scheduled by what cannot be read; it stays in the log for a release that can.
      message.respond("+ACK");
      return [];
    });

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
