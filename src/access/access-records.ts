import { Type } from "typebox";
import { noRules, type TenantRules } from "../domain/tenant.ts";
import { checkRequest } from "../schemas/request-schema.ts";
import { isScope, type KeyRecord } from "./key-ring.ts";

/** The contents of the bucket, by key id and by tenant. */
export type AccessRecords = {
  readonly keys: ReadonlyMap<string, KeyRecord>;
  /** Of records that cannot be read. Such a key admits no caller, and was created all the same. */
  readonly unreadableKeys: readonly string[];
  readonly rules: ReadonlyMap<string, TenantRules>;
};

const text = Type.String({ description: "a string" });
const textOrNull = Type.Union([text, Type.Null()], { description: "a string or null" });

// Fields that a newer release added are allowed.
const checkKey = checkRequest(
  Type.Object({
    id: text,
    tenant: text,
    name: textOrNull,
    scopes: Type.Array(text),
    createdAt: text,
    sha256: Type.Union([Type.String({ pattern: "^[0-9a-f]{64}$" }), Type.Null()]),
    revokedAt: textOrNull,
  }),
);

const checkRules = checkRequest(
  Type.Object({
    senders: Type.Union([Type.Array(text), Type.Null()]),
    dailyRecipients: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
    approvalAbove: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  }),
);

export const keyEntry = (id: string): string => `key.${id}`;
export const tenantEntry = (tenant: string): string => `tenant.${tenant}`;

export const encodeRecord = (record: KeyRecord | TenantRules): string => JSON.stringify(record);

/** Null for a malformed record: a key that cannot be read admits no caller. Scopes that only a newer release knows are left out. */
export function decodeKey(id: string, bytes: string): KeyRecord | null {
  const checked = checkKey(parsed(bytes));
  if (!checked.valid || checked.value.id !== id) return null;
  return { ...checked.value, scopes: checked.value.scopes.filter(isScope) };
}

/** Rules that cannot be read allow nothing, rather than everything. A deleted entry is empty. */
export function decodeRules(bytes: string): TenantRules {
  if (bytes === "") return noRules;
  const checked = checkRules(parsed(bytes));
  return checked.valid ? checked.value : { senders: [], dailyRecipients: 0, approvalAbove: 0 };
}

export function toRecords(entries: Iterable<readonly [entry: string, bytes: string]>): AccessRecords {
  const keys = new Map<string, KeyRecord>();
  const unreadableKeys: string[] = [];
  const rules = new Map<string, TenantRules>();
  for (const [entry, bytes] of entries) {
    const [kind, name = ""] = splitEntry(entry);
    if (kind === "tenant") rules.set(name, decodeRules(bytes));
    if (kind !== "key") continue;
    const key = decodeKey(name, bytes);
    if (key === null) unreadableKeys.push(name);
    else keys.set(name, key);
  }
  return { keys, unreadableKeys, rules };
}

const splitEntry = (entry: string): readonly string[] => {
  const dot = entry.indexOf(".");
  return [entry.slice(0, dot), entry.slice(dot + 1)];
};

function parsed(bytes: string): unknown {
  try {
    return JSON.parse(bytes);
  } catch {
    return null;
  }
}
