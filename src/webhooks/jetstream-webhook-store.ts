import { Type } from "typebox";
import { type BucketSettings, changeEntry, openBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { type BucketEntry, followBucket } from "../nats/follow-bucket.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import type { Sealing } from "../secrets/sealing.ts";
import {
  type RecipientEndpoint,
  type RecipientEndpoints,
  type RecipientEndpointsNow,
  recipientEndpointsOf,
} from "./recipient-endpoints.ts";
import { isWebhookType, noWebhooks, type TenantWebhooks } from "./tenant-webhooks.ts";
import type { WebhookStore } from "./webhook-store.ts";

export const bucketOfWebhooks = "WEBHOOKS";

/** One entry for each tenant, encrypted where there is a key, read from the leader. A write succeeds only if the entry has not changed since it was read. */
export async function createJetStreamWebhookStore(
  connection: JetStreamConnection,
  settings: BucketSettings,
  sealing: Sealing,
): Promise<WebhookStore> {
  const bucket = await openBucket(connection, bucketOfWebhooks, settings);
  return {
    read: async (tenant) => {
      const entry = await asking(connection, () => bucket.get(tenant));
      return asKnownHere(openEntry(sealing, tenant, entry?.string() ?? null));
    },
    change: async (tenant, toNext) => {
      const { before, next } = await changeEntry(connection, bucket, tenant, (bytes) => {
        const stored = openEntry(sealing, tenant, bytes);
        const before = asKnownHere(stored);
        const next = toNext(before);
        const text = next === null ? null : sealing.seal(tenant, JSON.stringify(withNewerTypes(next, stored)));
        return { before, next, text };
      });
      return { changed: next !== null, webhooks: next ?? before };
    },
  };
}

/** A deleted entry is empty. Throws SchemaBroken for malformed records. */
const openEntry = (sealing: Sealing, tenant: string, stored: string | null): StoredWebhooks =>
  stored === null || stored === "" ? check(noWebhooks) : check(JSON.parse(sealing.open(tenant, stored)));

/** Each use of the endpoints asks for changes first. */
const knownWithinMs = 10_000;

/** Follows the bucket, which is read again only when it has changed. An entry that cannot be opened is reported. */
export async function followRecipientEndpoints(
  connection: JetStreamConnection,
  settings: BucketSettings,
  sealing: Sealing,
  report: (failure: unknown) => void,
): Promise<RecipientEndpoints & { stop(): Promise<void> }> {
  await openBucket(connection, bucketOfWebhooks, settings);
  let found: RecipientEndpointsNow = { endpoints: [], unreadable: new Set() };
  const read = (entries: readonly BucketEntry[]): boolean => {
    const endpoints: RecipientEndpoint[] = [];
    const unreadable = new Set<string>();
    for (const { name, text: stored } of entries) {
      try {
        endpoints.push(...recipientEndpointsOf(name, asKnownHere(openEntry(sealing, name, stored))));
      } catch (failure) {
        unreadable.add(name);
        report(failure);
      }
    }
    found = { endpoints, unreadable };
    // Its key may come a moment after it.
    return unreadable.size === 0;
  };
  const bucket = { bucket: bucketOfWebhooks, prefix: settings.prefix, knownWithinMs };
  const { refresh, stop } = await followBucket(connection, bucket, read, report);
  return {
    now: async () => {
      await refresh();
      return found;
    },
    stop,
  };
}

const text = Type.String();
const secrets = Type.Array(Type.Object({ text, validUntil: Type.Union([text, Type.Null()]) }));

// Fields that a newer release added are allowed.
const check = checkedBy(
  Type.Object({
    endpoints: Type.Array(Type.Object({ id: text, url: text, types: Type.Array(text), createdAt: text, secrets })),
    secrets,
  }),
);

/** As an entry is stored: with types that only a newer release knows. */
type StoredWebhooks = ReturnType<typeof check>;

/** Types that only a newer release knows are left out. */
const asKnownHere = (stored: StoredWebhooks): TenantWebhooks => ({
  ...stored,
  endpoints: stored.endpoints.map((endpoint) => ({ ...endpoint, types: endpoint.types.filter(isWebhookType) })),
});

/** Once this release has changed something else, the endpoints keep them. */
function withNewerTypes(next: TenantWebhooks, stored: StoredWebhooks) {
  const newer = new Map(stored.endpoints.map(({ id, types }) => [id, types.filter((type) => !isWebhookType(type))]));
  const endpoints = next.endpoints.map((endpoint) => ({
    ...endpoint,
    types: [...endpoint.types, ...(newer.get(endpoint.id) ?? [])],
  }));
  return { ...next, endpoints };
}
