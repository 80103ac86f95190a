import { noRules } from "../domain/tenant.ts";
import { type BucketSettings, openBucket } from "../nats/bucket.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { followBucket } from "../nats/follow-bucket.ts";
import { type AccessRecords, toRecords } from "./access-records.ts";
import type { KeyRing } from "./key-ring.ts";

export type RunningKeyRing = KeyRing & { stop(): Promise<void> };

/** `keys revoke` and `tenants set` promise it. */
const knownWithinMs = 1000;

/** Follows the bucket of keys and tenants. Returns once everything has been read. */
export async function createJetStreamKeyRing(
  connection: JetStreamConnection,
  settings: BucketSettings,
  report: (failure: unknown) => void,
): Promise<RunningKeyRing> {
  await openBucket(connection, "ACCESS", settings);
  let records: AccessRecords = { keys: new Map(), unreadableKeys: [], rules: new Map() };
  const { ageMs, sinceLookMs, refresh, stop } = await followBucket(
    connection,
    { bucket: "ACCESS", prefix: settings.prefix, knownWithinMs },
    (entries) => {
      records = toRecords(entries.map(({ name, text }) => [name, text]));
      return true;
    },
    report,
  );
  return {
    find: (id) => records.keys.get(id) ?? null,
    rulesOf: (tenant) => records.rules.get(tenant) ?? noRules,
    hasKeys: () => records.keys.size + records.unreadableKeys.length > 0,
    hasUsableKey: () => [...records.keys.values()].some(({ sha256 }) => sha256 !== null),
    ageMs,
    sinceLookMs,
    refresh,
    stop,
  };
}
