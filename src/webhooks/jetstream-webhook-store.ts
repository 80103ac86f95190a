import type { KV } from "nats";
import { Type } from "typebox";
import { type BucketSettings, openBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isWrongSequence } from "../nats/errors.ts";
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
    read: async (tenant) => (await readEntry(connection, bucket, tenant)).webhooks,
    change: async (tenant, toNext) => {
      for (;;) {
        const before = await readEntry(connection, bucket, tenant);
        const next = toNext(before.webhooks);
        if (next === null) return { changed: false, webhooks: before.webhooks };
        if (await write(connection, bucket, tenant, next, before.revision)) return { changed: true, webhooks: next };
      }
    },
  };
}

type Entry = { readonly webhooks: TenantWebhooks; readonly revision: number };

async function readEntry(connection: JetStreamConnection, bucket: KV, tenant: string): Promise<Entry> {
  const entry = await asking(connection, () => bucket.get(tenant));
  if (entry === null) return { webhooks: noWebhooks, revision: 0 };
  const bytes = entry.string();
  return { webhooks: bytes === "" ? noWebhooks : decodeWebhooks(bytes), revision: entry.revision };
}

/** False if another process wrote the entry since it was read. */
async function write(
  connection: JetStreamConnection,
  bucket: KV,
  tenant: string,
  next: TenantWebhooks,
  previousSeq: number,
): Promise<boolean> {
  try {
    await asking(connection, () => bucket.put(tenant, encodeWebhooks(next), { previousSeq }));
    return true;
  } catch (failure) {
    if (isWrongSequence(failure)) return false;
    throw failure;
  }
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

export const encodeWebhooks = (webhooks: TenantWebhooks): string => JSON.stringify(webhooks);

/** Throws SchemaBroken for malformed records. Types that only a newer release knows are left out. */
export function decodeWebhooks(bytes: string): TenantWebhooks {
  const webhooks = check(JSON.parse(bytes));
  const endpoints = webhooks.endpoints.map((endpoint) => ({
    ...endpoint,
    types: endpoint.types.filter(isWebhookType),
  }));
  return { ...webhooks, endpoints };
}
