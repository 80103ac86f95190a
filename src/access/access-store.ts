import type { TenantRules } from "../domain/tenant.ts";
import type { KeyRecord } from "./key-ring.ts";

/** What operators change: keys and what is laid down for tenants. Every API process knows it within a second. */
export interface AccessStore {
  addKey(key: KeyRecord): Promise<void>;
  /** Revoked ones as well, the oldest first. */
  listKeys(): Promise<readonly KeyRecord[]>;
  /** The key as it is then; null where there is none with this id. Said again, it stays as it was revoked. */
  revokeKey(id: string, at: string): Promise<KeyRecord | null>;
  /** Of all tenants that have rules or keys, by name. */
  listTenants(): Promise<ReadonlyMap<string, TenantRules>>;
  /** Changes what is named and leaves the rest; the rules as they are then. */
  setRules(tenant: string, changes: Partial<TenantRules>): Promise<TenantRules>;
}
