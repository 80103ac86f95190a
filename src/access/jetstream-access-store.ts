import type { KV } from "nats";
import { noRules, type TenantRules } from "../domain/tenant.ts";
import { readSubject } from "../event-log/jetstream-reader.ts";
import { type BucketSettings, openBucket, streamOfBucket, subjectsOfBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isWrongSequence } from "../nats/errors.ts";
import { nameWith } from "../nats/names.ts";
import {
  type AccessRecords,
  decodeKey,
  decodeRules,
  encodeRecord,
  keyEntry,
  tenantEntry,
  toRecords,
} from "./access-records.ts";
import type { AccessStore } from "./access-store.ts";
import type { KeyRecord } from "./key-ring.ts";

export async function createJetStreamAccessStore(
  connection: JetStreamConnection,
  settings: BucketSettings,
): Promise<AccessStore> {
  const bucket = await openBucket(connection, "ACCESS", settings);
  const readAll = () => readAccessRecords(connection, settings.prefix);
  return {
    addKey: (key) =>
      asking(connection, async () => {
        try {
          await bucket.create(keyEntry(key.id), encodeRecord(key));
        } catch (failure) {
          // An earlier try may have stored it and lost the answer: the id was generated for this one key.
          const stored = isWrongSequence(failure) ? await bucket.get(keyEntry(key.id)) : null;
          if (stored?.string() !== encodeRecord(key)) throw failure;
        }
      }),
    listKeys: async () => [...(await readAll()).keys.values()].sort(byAge),
    revokeKey: (id, at) =>
      asking(connection, () =>
        change<KeyRecord>(bucket, keyEntry(id), (bytes) => {
          const key = bytes === null ? null : decodeKey(id, bytes);
          return key === null || key.revokedAt !== null ? key : { ...key, sha256: null, revokedAt: at };
        }),
      ),
    listTenants: async () => {
      const { keys, rules } = await readAll();
      const names = new Set([...rules.keys(), ...[...keys.values()].map(({ tenant }) => tenant)]);
      return new Map([...names].sort().map((name) => [name, rules.get(name) ?? noRules]));
    },
    setRules: (tenant, changes) =>
      asking(connection, async () => {
        const toRules = (bytes: string | null): TenantRules => ({
          ...(bytes === null ? noRules : decodeRules(bytes)),
          ...changes,
        });
        return (await change<TenantRules>(bucket, tenantEntry(tenant), toRules)) ?? noRules;
      }),
  };
}

const byAge = (one: KeyRecord, other: KeyRecord): number => one.createdAt.localeCompare(other.createdAt);

/** Reads, changes and writes the entry, and starts over if another process wrote it meanwhile. Null leaves it as it is. */
async function change<Found extends KeyRecord | TenantRules>(
  bucket: KV,
  entry: string,
  toNext: (bytes: string | null) => Found | null,
): Promise<Found | null> {
  for (;;) {
    const before = await bucket.get(entry);
    const next = toNext(before?.string() ?? null);
    if (next === null) return null;
    try {
      await bucket.put(entry, encodeRecord(next), { previousSeq: before?.revision ?? 0 });
      return next;
    } catch (failure) {
      if (!isWrongSequence(failure)) throw failure;
    }
  }
}

/** The current contents of the bucket of keys and tenants. */
export async function readAccessRecords(connection: JetStreamConnection, prefix: string): Promise<AccessRecords> {
  const bucket = nameWith(prefix, "ACCESS");
  const subjects = subjectsOfBucket(bucket);
  const messages = await readSubject(connection, streamOfBucket(bucket), subjects);
  return toRecords(messages.map((message) => [message.subject.slice(subjects.length - 1), message.string()]));
}

/** Changes with every write, and when the bucket is created anew. */
export async function accessVersion(connection: JetStreamConnection, prefix: string): Promise<string> {
  const stream = streamOfBucket(nameWith(prefix, "ACCESS"));
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: 1000 });
  const { created, state } = await asking(connection, () => manager.streams.info(stream));
  return `${created} ${state.last_seq}`;
}
