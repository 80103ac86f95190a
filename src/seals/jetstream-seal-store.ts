import type { KV } from "nats";
import { type BucketSettings, openBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isWrongSequence } from "../nats/errors.ts";
import { newSealKey, readSealKey, type SealKey, toPem } from "./seal-key.ts";
import type { SealStore } from "./seal-store.ts";

const keyEntry = "key";

/** The generated key, and the positions up to which seals were published, in the bucket SEALS. */
export async function createJetStreamSealStore(
  connection: JetStreamConnection,
  settings: BucketSettings,
): Promise<SealStore> {
  const bucket = await openBucket(connection, "SEALS", settings);
  const read = (entry: string) => asking(connection, () => bucket.get(entry));

  const readKey = async (): Promise<SealKey | null> => {
    const entry = await read(keyEntry);
    if (entry === null || entry.operation !== "PUT") return null;
    const key = readSealKey(entry.string());
    if (key === null) throw new Error("The entry key of the bucket SEALS holds no private Ed25519 key.");
    return key;
  };
  return {
    readKey,
    key: async () => {
      for (;;) {
        const found = await readKey();
        if (found !== null) return found;
        await makeIfAbsent(connection, bucket);
      }
    },
    rotate: async () => {
      const key = newSealKey();
      await asking(connection, () => bucket.put(keyEntry, toPem(key)));
      return key;
    },
    published: async (destination) => {
      const entry = await read(`published.${destination}`);
      return entry === null ? 0 : Number(entry.string());
    },
    publishedUpTo: async (destination, sequence) => {
      await asking(connection, () => bucket.put(`published.${destination}`, String(sequence)));
    },
  };
}

/** If several processes start at once, one creates the key and the others read it. */
async function makeIfAbsent(connection: JetStreamConnection, bucket: KV): Promise<void> {
  try {
    await asking(connection, () => bucket.create(keyEntry, toPem(newSealKey())));
  } catch (failure) {
    if (!isWrongSequence(failure)) throw failure;
  }
}
