import type { TenantWebhooks } from "./tenant-webhooks.ts";

/**
 * Endpoints and secrets of tenants. A secret stands there as it is, since whoever signs needs it: who can read the store
 * can sign. Both methods throw Unavailable.
 */
export interface WebhookStore {
  /** As it is this moment: an endpoint that somebody was told of is among it. */
  read(tenant: string): Promise<TenantWebhooks>;
  /** Stores what `toNext` makes of it, unless that is null; what is stored then. Where somebody else was faster, again. */
  change(
    tenant: string,
    toNext: (before: TenantWebhooks) => TenantWebhooks | null,
  ): Promise<{ readonly changed: boolean; readonly webhooks: TenantWebhooks }>;
}
