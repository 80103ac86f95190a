import { defaultTenant } from "../domain/tenant.ts";
import { validAt, type WebhookSecret } from "../signed-post/secret.ts";
import { withRotatedSecret, withSecret } from "./tenant-webhooks.ts";
import type { WebhookStore } from "./webhook-store.ts";

export type TenantSecrets = {
  /** The secrets that sign now, the newest first; creates one if there is none. */
  of(tenant: string): Promise<readonly WebhookSecret[]>;
  /** Null if the secret comes from a setting, which is where it must be changed. */
  rotate(tenant: string): Promise<readonly WebhookSecret[] | null>;
};

/** `fixed` signs for the default tenant; if it is null, that tenant has a stored secret like every other. */
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
