import type { KV, KvOptions } from "nats";
import { asking, type JetStreamConnection } from "./connection.ts";
import { isOverlapping, isWrongSequence } from "./errors.ts";
import { lastMessageOf } from "./jetstream-api.ts";
import { nameWith } from "./names.ts";
import { readOn } from "./read-subject.ts";

export type BucketSettings = { readonly prefix: string; readonly replicas: number };

const timeoutMs = 1500;

/** The stream of a bucket, and the subjects of its entries. */
export const streamOfBucket = (bucket: string): string => `KV_${bucket}`;
export const subjectsOfBucket = (bucket: string): string => `$KV.${bucket}.>`;

/** Creates the bucket if it is missing. Entries are read from the leader: a replica may answer with stale data. */
export function openBucket(
  connection: JetStreamConnection,
  bucket: string,
  { prefix, replicas }: BucketSettings,
  options: Partial<KvOptions> = {},
): Promise<KV> {
  const { views } = connection.nats.jetstream({ timeout: timeoutMs });
  const open = () => views.kv(nameWith(prefix, bucket), { history: 1, replicas, allow_direct: false, ...options });
  return asking(connection, () =>
    open().catch((failure: unknown) => {
      // Two processes create it at the same moment: NATS 2.9 sometimes says this to one of them, and has the bucket then.
      if (!isOverlapping(failure)) throw failure;
      return open();
    }),
  );
}

/**
 * All entries of a bucket, oldest change first, read from the leader. Each once: a bucket that was written while it was backed
 * up has two messages of one. Throws the client's error if there is no such bucket.
 */
export async function readEntries(
  connection: JetStreamConnection,
  bucket: string,
): Promise<readonly { readonly name: string; readonly text: string }[]> {
  const texts = new Map<string, string>();
  await readChanged(connection, bucket, texts, 0);
  return [...texts].map(([name, text]) => ({ name, text }));
}

/** Brings texts that have all changes up to a sequence up to date; answers the sequence that they have now. Each change is one request. */
export async function readChanged(
  connection: JetStreamConnection,
  bucket: string,
  texts: Map<string, string>,
  upTo: number,
): Promise<number> {
  const [stream, all] = [streamOfBucket(bucket), subjectsOfBucket(bucket)];
  const last = await asking(connection, () => lastMessageOf(connection, stream, all));
  const messages = await readOn(connection, stream, all, upTo + 1, last?.sequence ?? 0);
  for (const { subject, data } of messages) {
    const name = subject.slice(all.length - 1);
    texts.delete(name);
    texts.set(name, Buffer.from(data).toString());
  }
  return Math.max(upTo, last?.sequence ?? 0);
}

/** The new state of an entry; with `text` null the entry stays as it is. */
type Change = { readonly text: string | null };

/**
 * Reads an entry (null if there is none), stores the text of the change that `toChange` returns, and returns that
 * change. Starts over if another process wrote the entry meanwhile. Throws Unavailable.
 */
export async function changeEntry<Made extends Change>(
  connection: JetStreamConnection,
  bucket: KV,
  entry: string,
  toChange: (before: string | null) => Made,
): Promise<Made> {
  for (;;) {
    const before = await asking(connection, () => bucket.get(entry));
    const change = toChange(before?.string() ?? null);
    const { text } = change;
    if (text === null) return change;
    try {
      await asking(connection, () => bucket.put(entry, text, { previousSeq: before?.revision ?? 0 }));
      return change;
    } catch (failure) {
      if (!isWrongSequence(failure)) throw failure;
    }
  }
}
