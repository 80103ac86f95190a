import { noWebhooks, type TenantWebhooks } from "../../../src/webhooks/tenant-webhooks.ts";
import type { WebhookStore } from "../../../src/webhooks/webhook-store.ts";

/** Keeps endpoints and secrets as long as the process lives. */
export function createMemoryWebhookStore(): WebhookStore {
  const stored = new Map<string, TenantWebhooks>();
  const read = (tenant: string): TenantWebhooks => stored.get(tenant) ?? noWebhooks;
  return {
    read: async (tenant) => read(tenant),
    change: async (tenant, toNext) => {
      const next = toNext(read(tenant));
      if (next !== null) stored.set(tenant, next);
      return { changed: next !== null, webhooks: read(tenant) };
    },
  };
}
