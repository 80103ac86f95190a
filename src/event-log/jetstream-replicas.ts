import { streamOfBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isStreamMissing } from "../nats/errors.ts";
import { nameWith } from "../nats/names.ts";
import { streamOfObjects } from "../nats/object-store.ts";
import { bucketKinds, streamKinds, streamName } from "./subjects.ts";

/** All streams of the service, those of its buckets and of attachments too, whether they are there yet or not. */
export function streamsOf(prefix: string): readonly string[] {
  const ofKinds = streamKinds.flatMap((kind) => {
    const name = streamName(prefix, kind);
    // One of the two canary streams is in use, see jetstream-canary.ts.
    return kind === "CANARY" ? [`${name}_1`, `${name}_2`] : [name];
  });
  const ofBuckets = bucketKinds.map((bucket) => streamOfBucket(nameWith(prefix, bucket)));
  return [...ofKinds, ...ofBuckets, streamOfObjects(nameWith(prefix, "ATTACHMENTS"))];
}

/** As for the streams that are made first: a busy cluster takes long to place replicas. */
const requestMs = 10_000;

/**
 * The streams that `ensureStreams` does not know keep the replicas with which they were made, or restored from a backup: here they
 * get those of the setting. Tries each of them once, and throws the first failure.
 */
export async function adjustReplicas(connection: JetStreamConnection, prefix: string, replicas: number): Promise<void> {
  const { streams } = await connection.nats.jetstreamManager({ checkAPI: false, timeout: requestMs });
  const adjust = async (name: string): Promise<void> => {
    try {
      const { config } = await asking(connection, () => streams.info(name));
      if (config.num_replicas === replicas) return;
      await asking(connection, () => streams.update(name, { ...config, num_replicas: replicas }));
    } catch (failure) {
      if (!isStreamMissing(failure)) throw failure;
    }
  };
  const results = await Promise.allSettled(streamsOf(prefix).map(adjust));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}
