import type { TenantRules } from "../domain/tenant.ts";
import type { KeyRecord } from "./key-ring.ts";

/** What operators change: keys, and rules for tenants. Every API process applies a change within a second. */
export interface AccessStore {
  addKey(key: KeyRecord): Promise<void>;
  /** All keys, including revoked ones, the oldest first. */
  listKeys(): Promise<readonly KeyRecord[]>;
  /** Returns the key as it is afterwards, or null if there is none with this id. Revoking a key again changes nothing. */
  revokeKey(id: string, at: string): Promise<KeyRecord | null>;
  /** The rules of all tenants that have rules or keys, by name. */
  listTenants(): Promise<ReadonlyMap<string, TenantRules>>;
  /** Changes the named rules, leaves the others, and returns all of them as they are afterwards. */
  setRules(tenant: string, changes: Partial<TenantRules>): Promise<TenantRules>;
}
