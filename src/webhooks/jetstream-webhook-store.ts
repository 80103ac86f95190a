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
  const open = (tenant: string, stored: string | null): TenantWebhooks => openEntry(sealing, tenant, stored);
  return {
    read: async (tenant) => open(tenant, (await asking(connection, () => bucket.get(tenant)))?.string() ?? null),
    change: async (tenant, toNext) => {
      const { before, next } = await changeEntry(connection, bucket, tenant, (bytes) => {
        const before = open(tenant, bytes);
        const next = toNext(before);
        return { before, next, text: next === null ? null : sealing.seal(tenant, JSON.stringify(next)) };
      });
      return { changed: next !== null, webhooks: next ?? before };
    },
  };
}

/** A deleted entry is empty. */
const openEntry = (sealing: Sealing, tenant: string, stored: string | null): TenantWebhooks =>
  stored === null || stored === "" ? noWebhooks : toWebhooks(sealing.open(tenant, stored));

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
        endpoints.push(...recipientEndpointsOf(name, openEntry(sealing, name, stored)));
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

/** Throws SchemaBroken for malformed records. Types that only a newer release knows are left out. */
function toWebhooks(bytes: string): TenantWebhooks {
  const webhooks = check(JSON.parse(bytes));
  const endpoints = webhooks.endpoints.map((endpoint) => ({
    ...endpoint,
    types: endpoint.types.filter(isWebhookType),
  }));
  return { ...webhooks, endpoints };
}
