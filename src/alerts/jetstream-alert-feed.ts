import type { AlertEvent } from "../domain/alerts/events.ts";
import { alertsRef } from "../event-log/event-log.ts";
import type { DurableConsumer, Notice } from "../event-log/jetstream-durable.ts";
import { readDurable } from "../event-log/jetstream-durable-feed.ts";
import { streamName, subjectOf } from "../event-log/subjects.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import type { AlertFeed } from "./alert-teller.ts";

/** Every alert is handed to one instance, and again until it acknowledges. */
export function createJetStreamAlertFeed(connection: JetStreamConnection, prefix: string, notice: Notice): AlertFeed {
  const consumer: DurableConsumer = {
    stream: streamName(prefix, "JOBS"),
    name: "alerts",
    filterSubject: subjectOf(prefix, alertsRef, "alert"),
    ackWaitMs: 10_000,
  };
  return { batches: (signal) => readDurable<AlertEvent>(connection, prefix, consumer, notice, signal) };
}
