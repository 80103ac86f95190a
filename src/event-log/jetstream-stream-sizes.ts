import type { StreamInfo } from "nats";
import { streamOfBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isStreamMissing } from "../nats/errors.ts";
import { nameWith } from "../nats/names.ts";
import type { StreamSize } from "./log-gauge.ts";
import { bucketKinds, streamKinds, streamName } from "./subjects.ts";

const askTimeoutMs = 1500;
const nanosPerSecond = 1_000_000_000;

/** The streams of this service and of no other on the same NATS; one that nothing was stored in yet is left out. */
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
  const names = namesOf(prefix);
  return () =>
    asking(connection, async () => {
      const found = await Promise.all(names.map(find));
      return found.flatMap((info) => (info === null ? [] : [toSize(info)]));
    });
}

function namesOf(prefix: string): readonly string[] {
  const ofKinds = streamKinds.flatMap((kind) => {
    const name = streamName(prefix, kind);
    // Of two places one is in use, see jetstream-canary.ts.
    return kind === "CANARY" ? [`${name}_1`, `${name}_2`] : [name];
  });
  return [...ofKinds, ...bucketKinds.map((bucket) => streamOfBucket(nameWith(prefix, bucket)))];
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
