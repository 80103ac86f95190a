import { digestOfKey, newAccessKey } from "../../src/access/access-key.ts";
import type { AccessStore } from "../../src/access/access-store.ts";
import { defaultScopes, type KeyRecord, type KeyRing } from "../../src/access/key-ring.ts";
import { noRules, type TenantRules } from "../../src/domain/tenant.ts";
import { Unavailable } from "../../src/domain/unavailable.ts";
import { now } from "./examples.ts";

export type MadeKey = { readonly text: string; readonly record: KeyRecord };

export function newKey(overrides: Partial<KeyRecord> = {}): MadeKey {
  const { id, text } = newAccessKey();
  const record: KeyRecord = {
    id,
    tenant: "acme",
    name: null,
    scopes: defaultScopes,
    createdAt: now,
    sha256: digestOfKey(text).toString("hex"),
    revokedAt: null,
    ...overrides,
  };
  return { text, record };
}

/** A key that is kept in the store; its text comes back. */
export async function storedKey(store: AccessStore, overrides: Partial<KeyRecord> = {}): Promise<MadeKey> {
  const made = newKey(overrides);
  await store.addKey(made.record);
  return made;
}

/** A ring of just these keys, as old as the test says. */
export function ringOf(
  keys: readonly KeyRecord[],
  { ageMs = 0, rules = {} }: { readonly ageMs?: number; readonly rules?: Readonly<Record<string, TenantRules>> } = {},
): KeyRing {
  return {
    find: (id) => keys.find((key) => key.id === id) ?? null,
    rulesOf: (tenant) => rules[tenant] ?? noRules,
    hasKeys: () => keys.length > 0,
    hasUsableKey: () => keys.some(({ sha256 }) => sha256 !== null),
    ageMs: () => ageMs,
    sinceLookMs: () => 0,
    refresh: async () => {
      if (ageMs > 0) throw new Unavailable("NATS is away.");
    },
  };
}

export const bearer = (text: string): Record<string, string> => ({ Authorization: `Bearer ${text}` });
