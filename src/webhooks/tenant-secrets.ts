import { defaultTenant } from "../domain/tenant.ts";
import { validAt, type WebhookSecret } from "../signed-post/secret.ts";
import { withRotatedSecret, withSecret } from "./tenant-webhooks.ts";
import type { WebhookStore } from "./webhook-store.ts";

export type TenantSecrets = {
  /** Those that sign now, the newest first; the first one is made where there is none. */
  of(tenant: string): Promise<readonly WebhookSecret[]>;
  /** Null where the settings lay it down: it is changed there. */
  rotate(tenant: string): Promise<readonly WebhookSecret[] | null>;
};

/** `fixed` signs for the default tenant; null leaves that tenant with one of its own like every other. */
export function createTenantSecrets(store: WebhookStore, fixed: string | null): TenantSecrets {
  const isFixed = (tenant: string): boolean => fixed !== null && tenant === defaultTenant;
  return {
    of: async (tenant) => {
      if (fixed !== null && isFixed(tenant)) return [{ text: fixed, validUntil: null }];
      const { secrets } = await store.read(tenant);
      if (secrets.length > 0) return validAt(secrets, new Date().toISOString());
      return (await store.change(tenant, withSecret)).webhooks.secrets;
    },
    rotate: async (tenant) => {
      if (isFixed(tenant)) return null;
      const at = new Date().toISOString();
      return (await store.change(tenant, (before) => withRotatedSecret(before, at))).webhooks.secrets;
    },
  };
}
