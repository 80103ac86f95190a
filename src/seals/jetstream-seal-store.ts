import type { KV } from "nats";
import { type BucketSettings, openBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isWrongSequence } from "../nats/errors.ts";
import type { Sealing } from "../secrets/sealing.ts";
import { newSealKey, readSealKey, type SealKey, toPem } from "./seal-key.ts";
import type { SealStore } from "./seal-store.ts";

export const bucketOfSeals = "SEALS";

/** The entry of the private key, the only one that is secret. */
export const keyEntry = "key";

/** The generated key, encrypted where there is a key for that, and the positions up to which seals were published, in the bucket SEALS. */
export async function createJetStreamSealStore(
  connection: JetStreamConnection,
  settings: BucketSettings,
  sealing: Sealing,
): Promise<SealStore> {
  const bucket = await openBucket(connection, bucketOfSeals, settings);
  const read = (entry: string) => asking(connection, () => bucket.get(entry));

  const readKey = async (): Promise<SealKey | null> => {
    const entry = await read(keyEntry);
    if (entry === null || entry.operation !== "PUT") return null;
    const key = readSealKey(sealing.open(keyEntry, entry.string()));
    if (key === null) throw new Error("The entry key of the bucket SEALS holds no private Ed25519 key.");
    return key;
  };
  return {
    readKey,
    key: async () => {
      for (;;) {
        const found = await readKey();
        if (found !== null) return found;
        await makeIfAbsent(connection, bucket, sealing);
      }
    },
    rotate: async () => {
      const key = newSealKey();
      await asking(connection, () => bucket.put(keyEntry, sealing.seal(keyEntry, toPem(key))));
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
async function makeIfAbsent(connection: JetStreamConnection, bucket: KV, sealing: Sealing): Promise<void> {
  try {
    await asking(connection, () => bucket.create(keyEntry, sealing.seal(keyEntry, toPem(newSealKey()))));
  } catch (failure) {
    if (!isWrongSequence(failure)) throw failure;
  }
}
