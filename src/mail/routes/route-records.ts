import { type Static, Type } from "typebox";
import { checkedBy } from "../../schemas/checked-by.ts";
import type { Sealing } from "../../secrets/sealing.ts";
import { defaultRoute, type usualRules } from "./mail-route.ts";
import type { StoredRoute } from "./mail-route-store.ts";

const texts = Type.Union([Type.Array(Type.String()), Type.Null()]);
const rules = { senders: texts, tenants: texts, order: Type.Integer(), weight: Type.Integer({ minimum: 1 }) };

// Fields that a newer release added are allowed.
const checkRules = checkedBy(Type.Object(rules));
const accountRecord = Type.Object({
  url: Type.String(),
  connections: Type.Integer({ minimum: 1 }),
  rate: Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()]),
  ...rules,
});
const checkAccount = checkedBy(accountRecord);

export function encodeRoute(sealing: Sealing, route: StoredRoute): string {
  const { kind: _, name, ...record } = route;
  return sealing.seal(name, JSON.stringify(record));
}

/** Null for an entry that was removed. Throws CannotOpen, and SchemaBroken for a malformed record. */
export function decodeRoute(sealing: Sealing, name: string, stored: string): StoredRoute | null {
  if (stored === "") return null;
  const record: unknown = JSON.parse(sealing.open(name, stored));
  if (name === defaultRoute) return { kind: "default", name, ...pickRules(checkRules(record)) };
  const { url, connections, rate, ...rest } = checkAccount(record);
  return { kind: "account", name, url, connections, rate, ...pickRules(rest) };
}

const pickRules = ({ senders, tenants, order, weight }: Static<typeof accountRecord> | typeof usualRules) => ({
  senders,
  tenants,
  order,
  weight,
});
