import { noRules, type TenantRules } from "../domain/tenant.ts";
import { type BucketSettings, changeEntry, openBucket, readEntries } from "../nats/bucket.ts";
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
    revokeKey: async (id, at) => {
      const { next } = await changeEntry(connection, bucket, keyEntry(id), (bytes) => {
        const key = bytes === null ? null : decodeKey(id, bytes);
        const next = key === null || key.revokedAt !== null ? key : { ...key, sha256: null, revokedAt: at };
        return { next, text: next === null ? null : encodeRecord(next) };
      });
      return next;
    },
    listTenants: async () => {
      const { keys, rules } = await readAll();
      const names = new Set([...rules.keys(), ...[...keys.values()].map(({ tenant }) => tenant)]);
      return new Map([...names].sort().map((name) => [name, rules.get(name) ?? noRules]));
    },
    setRules: async (tenant, changes) => {
      const { next } = await changeEntry(connection, bucket, tenantEntry(tenant), (bytes) => {
        const next: TenantRules = { ...(bytes === null ? noRules : decodeRules(bytes)), ...changes };
        return { next, text: encodeRecord(next) };
      });
      return next;
    },
  };
}

const byAge = (one: KeyRecord, other: KeyRecord): number => one.createdAt.localeCompare(other.createdAt);

/** The current contents of the bucket of keys and tenants. */
async function readAccessRecords(connection: JetStreamConnection, prefix: string): Promise<AccessRecords> {
  const entries = await readEntries(connection, nameWith(prefix, "ACCESS"));
  return toRecords(entries.map(({ name, text }) => [name, text]));
}
