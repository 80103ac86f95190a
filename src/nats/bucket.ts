import type { KV, KvOptions } from "nats";
import { asking, type JetStreamConnection } from "./connection.ts";
import { nameWith } from "./names.ts";

export type BucketSettings = { readonly prefix: string; readonly replicas: number };

const timeoutMs = 1500;

/** The stream that a bucket is, and the subjects of its entries. */
export const streamOfBucket = (bucket: string): string => `KV_${bucket}`;
export const subjectsOfBucket = (bucket: string): string => `$KV.${bucket}.>`;

/** Creates the bucket where it is missing. Entries are read from the leader: a replica may answer with the past. */
export function openBucket(
  connection: JetStreamConnection,
  bucket: string,
  { prefix, replicas }: BucketSettings,
  options: Partial<KvOptions> = {},
): Promise<KV> {
  const { views } = connection.nats.jetstream({ timeout: timeoutMs });
  return asking(connection, () =>
    views.kv(nameWith(prefix, bucket), { history: 1, replicas, allow_direct: false, ...options }),
  );
}
