import { changeEntry, openBucket, readEntries } from "../nats/bucket.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { isStreamMissing } from "../nats/errors.ts";
import { nameWith } from "../nats/names.ts";
import { CannotOpen, type Sealing } from "./sealing.ts";

/** A bucket with secrets, and the entries of it that are none. */
export type SealedBucket = {
  readonly sealing: Sealing;
  readonly bucket: string;
  readonly isSecret: (entry: string) => boolean;
};

/** The key with which each entry is encrypted; null for one in clear. `fault` says why it cannot be decrypted. */
export type SealedEntry = {
  readonly bucket: string;
  readonly entry: string;
  readonly keyId: string | null;
  readonly fault: string | null;
};

type Place = { readonly prefix: string; readonly replicas: number };

/** Every secret of these buckets. A bucket that is missing has none. */
export async function readSealedEntries(
  connection: JetStreamConnection,
  place: Pick<Place, "prefix">,
  buckets: readonly SealedBucket[],
): Promise<readonly SealedEntry[]> {
  const found: SealedEntry[] = [];
  for (const { bucket, sealing, isSecret } of buckets) {
    for (const { name, text } of await entriesOf(connection, nameWith(place.prefix, bucket))) {
      if (text === "" || !isSecret(name)) continue;
      found.push({ bucket, entry: name, keyId: sealing.keyOf(text), fault: faultOf(sealing, name, text) });
    }
  }
  return found;
}

async function entriesOf(connection: JetStreamConnection, bucket: string): ReturnType<typeof readEntries> {
  try {
    return await readEntries(connection, bucket);
  } catch (failure) {
    if (isStreamMissing(failure)) return [];
    throw failure;
  }
}

function faultOf(sealing: Sealing, entry: string, text: string): string | null {
  try {
    sealing.open(entry, text);
    return null;
  } catch (failure) {
    if (failure instanceof CannotOpen) return failure.message;
    throw failure;
  }
}

/**
 * Encrypts an entry with the present key, unless it is by now, or is gone. Another process may write the entry at this
 * moment: then what it wrote is encrypted. Throws CannotOpen.
 */
export async function sealAgain(
  connection: JetStreamConnection,
  place: Place,
  { bucket, sealing }: SealedBucket,
  entry: string,
): Promise<boolean> {
  const opened = await openBucket(connection, bucket, place);
  const { text } = await changeEntry(connection, opened, entry, (stored) => {
    const isDone = stored === null || stored === "" || sealing.keyOf(stored) === sealing.currentKey();
    return { text: isDone ? null : sealing.seal(entry, sealing.open(entry, stored)) };
  });
  return text !== null;
}
