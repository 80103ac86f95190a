import type { TenantRules } from "../domain/tenant.ts";

/** What a key lets its bearer do. None includes another: a key has what it was given by name. */
export const scopes = ["jobs:read", "jobs:write", "events:read", "admin"] as const;

export type Scope = (typeof scopes)[number];

/** What a caller must have to be let in: a scope, or no more than a key that is valid. */
export type Needed = Scope | "any";

/** Those of a key that was made without naming any. */
export const defaultScopes: readonly Scope[] = scopes.filter((scope) => scope !== "admin");

export const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text);

/** What is kept of a key. It stays when the key is revoked: events name its id as who asked, for ever. */
export type KeyRecord = {
  readonly id: string;
  readonly tenant: string;
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly createdAt: string;
  /** SHA-256 of the key in hex; null once it is revoked. */
  readonly sha256: string | null;
  readonly revokedAt: string | null;
};

/** A key as it is shown: nothing of the key itself, nor its digest. */
export const toShownKey = ({ id, tenant, name, scopes, createdAt, revokedAt }: KeyRecord) => ({
  id,
  tenant,
  name,
  scopes,
  createdAt,
  revokedAt,
});

/**
 * All keys and tenants' rules, in the memory of this process, so that nobody waits to be let in. What is changed is
 * known here well within a second; `ageMs` tells when it was last known to be all there is.
 */
export interface KeyRing {
  /** Revoked ones as well. */
  find(id: string): KeyRecord | null;
  rulesOf(tenant: string): TenantRules;
  /** Whether a key was ever made. Revoking the last one must not open the door to everybody. */
  hasKeys(): boolean;
  hasUsableKey(): boolean;
  ageMs(): number;
}
