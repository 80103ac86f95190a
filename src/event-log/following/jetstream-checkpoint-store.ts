import type { KV } from "nats";
import { type BucketSettings, openBucket } from "../../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../../nats/connection.ts";
import { isWrongSequence } from "../../nats/errors.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";

/** In the bucket CHECKPOINTS, which is made where it is missing, also if it was deleted meanwhile. */
export function createJetStreamCheckpointStore(
  connection: JetStreamConnection,
  settings: BucketSettings,
): CheckpointStore {
  let opened: KV | null = null;
  const open = async (): Promise<KV> => {
    opened ??= await openBucket(connection, "CHECKPOINTS", settings);
    return opened;
  };
  return {
    read: async (name) => {
      const bucket = await open();
      const entry = await asking(connection, () => bucket.get(name));
      return entry === null ? null : { revision: entry.revision, text: entry.string() };
    },
    write: async (name, text, revision) => {
      const bucket = await open();
      try {
        return await asking(connection, () => bucket.put(name, text, { previousSeq: revision }));
      } catch (failure) {
        if (isWrongSequence(failure)) return null;
        opened = null;
        throw failure;
      }
    },
  };
}
