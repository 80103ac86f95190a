import type { Instant } from "../domain/message.ts";
import { type RecipientWebhookType, recipientWebhookTypes } from "../domain/webhooks/events.ts";
import type { TenantWebhooks } from "./tenant-webhooks.ts";

/** An endpoint that asks for messages about recipients. */
export type RecipientEndpoint = {
  readonly tenant: string;
  readonly id: string;
  readonly types: readonly RecipientWebhookType[];
  readonly createdAt: Instant;
};

export type RecipientEndpointsNow = {
  readonly endpoints: readonly RecipientEndpoint[];
  /** Tenants whose endpoints cannot be read at the moment. */
  readonly unreadable: ReadonlySet<string>;
};

/** The endpoints of all tenants that ask for messages about recipients. */
export interface RecipientEndpoints {
  /** Includes every endpoint whose creation was confirmed before the call. Throws Unavailable. */
  now(): Promise<RecipientEndpointsNow>;
}

const isOfRecipient = (type: string): type is RecipientWebhookType =>
  recipientWebhookTypes.some((known) => known === type);

export const recipientEndpointsOf = (tenant: string, { endpoints }: TenantWebhooks): readonly RecipientEndpoint[] =>
  endpoints
    .map(({ id, types, createdAt }) => ({ tenant, id, types: types.filter(isOfRecipient), createdAt }))
    .filter(({ types }) => types.length > 0);
