import type { JetStreamManager, StreamInfo } from "nats";
import { readEntries } from "../../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../../nats/connection.ts";
import { countOf } from "../../nats/consumers.ts";
import { isMessageMissing, isStreamMissing } from "../../nats/errors.ts";
import { lastMessageOf } from "../../nats/jetstream-api.ts";
import { nameWith } from "../../nats/names.ts";
import { streamsOf } from "../jetstream-replicas.ts";
import { streamFilter, streamName } from "../subjects.ts";
import { positionIn } from "./hold-checkpoint.ts";
import type { ConsumerLoad, LogGauge, StreamSize } from "./log-gauge.ts";

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
        const found = await Promise.all([
          loadsOfListeners(connection, prefix),
          loadsOf(manager, stream),
          loadsOf(manager, streamName(prefix, "TURNS")),
        ]);
        return found.flat();
      }),
    storedAfter: (sequence) =>
      asking(connection, async () => {
        try {
          // The next message that exists: a gap in the sequence is legal.
          const next = { seq: sequence + 1, next_by_subj: streamFilter(prefix, "JOBS") };
          return (await manager.streams.getMessage(stream, next)).time.toISOString();
        } catch (failure) {
          if (isMessageMissing(failure)) return null;
          throw failure;
        }
      }),
  };
}

async function loadsOfListeners(connection: JetStreamConnection, prefix: string): Promise<readonly ConsumerLoad[]> {
  const stream = streamName(prefix, "JOBS");
  const listeners = await readListeners(connection, prefix);
  if (listeners.length === 0) return [];
  const end = (await lastMessageOf(connection, stream, streamFilter(prefix, "JOBS")))?.sequence ?? 0;
  return listeners.map(({ name, reached }) => ({
    name,
    stream,
    pending: Math.max(0, end - reached),
    ackPending: null,
    redelivered: null,
  }));
}

/** `reached`: up to which sequence the listener has done its work. */
export type ListenerPosition = { readonly name: string; readonly reached: number };

/** A listener is no consumer to NATS: its checkpoint says how far it has come, at most a second ago. */
export async function readListeners(
  connection: JetStreamConnection,
  prefix: string,
): Promise<readonly ListenerPosition[]> {
  try {
    const entries = await readEntries(connection, nameWith(prefix, "CHECKPOINTS"));
    return entries.map(({ name, text }) => ({ name, reached: positionIn(text)?.sequence ?? 0 }));
  } catch (failure) {
    // There was no listener yet.
    if (isStreamMissing(failure)) return [];
    throw failure;
  }
}

async function loadsOf(manager: JetStreamManager, stream: string): Promise<readonly ConsumerLoad[]> {
  const loads: ConsumerLoad[] = [];
  try {
    for await (const consumer of manager.consumers.list(stream)) {
      // Every reader that follows the log has an unnamed consumer for as long as it follows.
      if (consumer.config.durable_name === undefined) continue;
      loads.push({
        name: consumer.name,
        stream,
        pending: countOf(consumer.num_pending),
        ackPending: countOf(consumer.num_ack_pending),
        redelivered: countOf(consumer.num_redelivered),
      });
    }
  } catch (failure) {
    // That of the turns may have been deleted: it is made again.
    if (!isStreamMissing(failure)) throw failure;
  }
  return loads;
}

const nanosPerSecond = 1_000_000_000;

/**
 * The streams of this service only, not those of others on the same NATS; a stream without any message so far is left
 * out.
 */
export async function createJetStreamStreamSizes(
  connection: JetStreamConnection,
  prefix: string,
): Promise<() => Promise<readonly StreamSize[]>> {
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: askTimeoutMs });
  const find = (name: string): Promise<StreamInfo | null> =>
    manager.streams.info(name).catch((failure: unknown) => {
      if (isStreamMissing(failure)) return null;
      throw failure;
    });
  const names = streamsOf(prefix);
  return () =>
    asking(connection, async () => {
      const found = await Promise.all(names.map(find));
      return found.flatMap((info) => (info === null ? [] : [toSize(info)]));
    });
}

const toSize = ({ config, state }: StreamInfo): StreamSize => ({
  name: config.name,
  messages: state.messages,
  bytes: state.bytes,
  firstSequence: state.first_seq,
  lastSequence: state.last_seq,
  maxBytes: config.max_bytes > 0 ? config.max_bytes : null,
  maxMessages: config.max_msgs > 0 ? config.max_msgs : null,
  maxAgeSeconds: config.max_age > 0 ? config.max_age / nanosPerSecond : null,
  replicas: config.num_replicas,
});
