import { Type } from "typebox";
import { checkedBy } from "../schemas/checked-by.ts";
import { isWebhookType, type TenantWebhooks } from "./tenant-webhooks.ts";

const text = Type.String();
const secrets = Type.Array(Type.Object({ text, validUntil: Type.Union([text, Type.Null()]) }));

// Fields that a newer release added are no fault.
const check = checkedBy(
  Type.Object({
    endpoints: Type.Array(Type.Object({ id: text, url: text, types: Type.Array(text), createdAt: text, secrets })),
    secrets,
  }),
);

export const encodeWebhooks = (webhooks: TenantWebhooks): string => JSON.stringify(webhooks);

/** Throws SchemaBroken where it is none. Types of a newer release are left out. */
export function decodeWebhooks(bytes: string): TenantWebhooks {
  const webhooks = check(JSON.parse(bytes));
  const endpoints = webhooks.endpoints.map((endpoint) => ({
    ...endpoint,
    types: endpoint.types.filter(isWebhookType),
  }));
  return { ...webhooks, endpoints };
}
