import type { JobEvent } from "../domain/job/events.ts";
import type { DurableConsumer, Notice } from "../event-log/jetstream-durable.ts";
import { readDurable } from "../event-log/jetstream-durable-feed.ts";
import { channelFilter, streamName } from "../event-log/subjects.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import type { DecisionFeed } from "./decision-feed.ts";

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
  return { batches: (signal) => readDurable<JobEvent>(connection, prefix, consumer, notice, signal) };
}
