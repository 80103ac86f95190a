import { Type } from "typebox";
import { type BucketSettings, changeEntry, openBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { checkedBy } from "../schemas/checked-by.ts";
import { isWebhookType, noWebhooks, type TenantWebhooks } from "./tenant-webhooks.ts";
import type { WebhookStore } from "./webhook-store.ts";

/** One entry for each tenant, read from the leader. A write succeeds only if the entry has not changed since it was read. */
export async function createJetStreamWebhookStore(
  connection: JetStreamConnection,
  settings: BucketSettings,
): Promise<WebhookStore> {
  const bucket = await openBucket(connection, "WEBHOOKS", settings);
  return {
    read: async (tenant) => toWebhooks((await asking(connection, () => bucket.get(tenant)))?.string() ?? null),
    change: async (tenant, toNext) => {
      const { before, next } = await changeEntry(connection, bucket, tenant, (bytes) => {
        const before = toWebhooks(bytes);
        const next = toNext(before);
        return { before, next, text: next === null ? null : JSON.stringify(next) };
      });
      return { changed: next !== null, webhooks: next ?? before };
    },
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
function toWebhooks(bytes: string | null): TenantWebhooks {
  // A deleted entry is empty.
  if (bytes === null || bytes === "") return noWebhooks;
  const webhooks = check(JSON.parse(bytes));
  const endpoints = webhooks.endpoints.map((endpoint) => ({
    ...endpoint,
    types: endpoint.types.filter(isWebhookType),
  }));
  return { ...webhooks, endpoints };
}
