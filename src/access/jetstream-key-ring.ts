import { noRules } from "../domain/tenant.ts";
import { type BucketSettings, openBucket, subjectsOfBucket } from "../nats/bucket.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { nameWith } from "../nats/names.ts";
import type { AccessRecords } from "./access-records.ts";
import { accessVersion, readAccessRecords } from "./jetstream-access-store.ts";
import type { KeyRing } from "./key-ring.ts";

export type RunningKeyRing = KeyRing & { stop(): Promise<void> };

/** Less than half of the second within which a revoked key must be refused. */
const askEveryMs = 400;

/**
 * Reads the bucket whenever it has changed. A change is announced at once; because an announcement can be lost, the
 * version of the bucket is also polled. Returns once everything has been read.
 */
export async function createJetStreamKeyRing(
  connection: JetStreamConnection,
  settings: BucketSettings,
  report: (failure: unknown) => void,
): Promise<RunningKeyRing> {
  const { prefix } = settings;
  await openBucket(connection, "ACCESS", settings);
  let records: AccessRecords = { keys: new Map(), rules: new Map() };
  let version = "";
  let completeAt = Number.NEGATIVE_INFINITY;
  let isStopping = false;
  let signalChange: () => void = () => {};

  const refresh = async (): Promise<void> => {
    const askedAt = performance.now();
    const found = await accessVersion(connection, prefix);
    // A write between the two requests is read now, and read again next time, because the version then differs.
    if (found !== version) records = await readAccessRecords(connection, prefix);
    version = found;
    completeAt = askedAt;
  };
  const keepUp = async (): Promise<void> => {
    while (!isStopping) {
      const changed = new Promise<void>((resolve) => {
        signalChange = resolve;
      });
      const timer = setTimeout(() => signalChange(), askEveryMs);
      await changed;
      clearTimeout(timer);
      if (!isStopping) await refresh().catch(report);
    }
  };

  await refresh();
  const subjects = subjectsOfBucket(nameWith(prefix, "ACCESS"));
  const subscription = connection.nats.subscribe(subjects, { callback: () => signalChange() });
  const loop = keepUp();
  return {
    find: (id) => records.keys.get(id) ?? null,
    rulesOf: (tenant) => records.rules.get(tenant) ?? noRules,
    hasKeys: () => records.keys.size > 0,
    hasUsableKey: () => [...records.keys.values()].some(({ sha256 }) => sha256 !== null),
    ageMs: () => performance.now() - completeAt,
    stop: async () => {
      isStopping = true;
      signalChange();
      if (!connection.nats.isClosed()) subscription.unsubscribe();
      await loop;
    },
  };
}
