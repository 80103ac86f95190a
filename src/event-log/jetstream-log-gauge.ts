import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isMessageMissing } from "../nats/errors.ts";
import { countOf } from "./jetstream-counts.ts";
import type { ConsumerLoad, LogGauge } from "./log-gauge.ts";
import { streamFilter, streamName } from "./subjects.ts";

const askTimeoutMs = 1500;

export async function createJetStreamLogGauge(connection: JetStreamConnection, prefix: string): Promise<LogGauge> {
  const stream = streamName(prefix, "JOBS");
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: askTimeoutMs });
  return {
    size: () =>
      asking(connection, async () => {
        const { config, state } = await manager.streams.info(stream);
        const maxBytes = config.max_bytes > 0 ? config.max_bytes : null;
        return { lastSequence: state.last_seq, bytes: state.bytes, maxBytes };
      }),
    consumers: () =>
      asking(connection, async () => {
        const loads: ConsumerLoad[] = [];
        for await (const consumer of manager.consumers.list(stream)) {
          // Whoever follows the log has a nameless consumer for as long as it follows.
          if (consumer.config.durable_name === undefined) continue;
          loads.push({
            name: consumer.name,
            stream,
            pending: countOf(consumer.num_pending),
            ackPending: countOf(consumer.num_ack_pending),
            redelivered: countOf(consumer.num_redelivered),
          });
        }
        return loads;
      }),
    storedAfter: (sequence) =>
      asking(connection, async () => {
        try {
          // The next one there is: a gap in the sequence is legal.
          const next = { seq: sequence + 1, next_by_subj: streamFilter(prefix, "JOBS") };
          return (await manager.streams.getMessage(stream, next)).time.toISOString();
        } catch (failure) {
          if (isMessageMissing(failure)) return null;
          throw failure;
        }
      }),
  };
}
