import type { TenantWebhooks } from "./tenant-webhooks.ts";

/**
 * Endpoints and secrets of tenants. Signing needs the secrets themselves, so without SECRETS_KEY a reader of the store
 * can sign. Both methods throw Unavailable, and CannotOpen for what was encrypted with a key that this process lacks.
 */
export interface WebhookStore {
  /** The current state: it includes every endpoint whose creation was ever confirmed. */
  read(tenant: string): Promise<TenantWebhooks>;
  /**
   * Stores what `toNext` returns, unless that is null, and returns what is stored then. Calls `toNext` again if another
   * process changed the entry meanwhile.
   */
  change(
    tenant: string,
    toNext: (before: TenantWebhooks) => TenantWebhooks | null,
  ): Promise<{ readonly changed: boolean; readonly webhooks: TenantWebhooks }>;
}
