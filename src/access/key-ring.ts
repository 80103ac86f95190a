import type { TenantRules } from "../domain/tenant.ts";

/** What a key allows. No scope includes another: a key has exactly the scopes that it was given. */
export const scopes = ["jobs:read", "jobs:write", "jobs:approve", "bounces:write", "events:read", "admin"] as const;

export type Scope = (typeof scopes)[number];

/** What a caller needs to be admitted: a scope, or just any valid key. */
export type Needed = Scope | "any";

/** The scopes of a key that was created without naming any: who may approve, and who may see everything, is named. */
const onlyByName: readonly Scope[] = ["admin", "jobs:approve", "bounces:write"];

export const defaultScopes: readonly Scope[] = scopes.filter((scope) => !onlyByName.includes(scope));

export const isScope = (text: string): text is Scope => scopes.some((scope) => scope === text);

/** The stored record of a key. It is kept when the key is revoked, because events name its id as their actor for ever. */
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

/** A key as it is shown to operators: without any part of the key, and without its digest. */
export const toShownKey = ({ id, tenant, name, scopes, createdAt, revokedAt }: KeyRecord) => ({
  id,
  tenant,
  name,
  scopes,
  createdAt,
  revokedAt,
});

/**
 * All keys and tenants' rules, in the memory of this process, so that admitting a caller needs no request. A change is
 * known here well within a second; `ageMs` tells how long ago the ring was last known to be complete.
 */
export interface KeyRing {
  /** Finds revoked keys as well. */
  find(id: string): KeyRecord | null;
  rulesOf(tenant: string): TenantRules;
  /** Whether a key was ever created. Revoking the last one must not open the API to every caller. */
  hasKeys(): boolean;
  hasUsableKey(): boolean;
  ageMs(): number;
  /** How long ago the last look ended, also one without an answer: a second or two at most, unless the process stood still. */
  sinceLookMs(): number;
  /** Learns of every change that was stored before the call. Throws Unavailable. */
  refresh(): Promise<void>;
}
