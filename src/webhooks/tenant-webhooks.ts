import type { Instant } from "../domain/message.ts";
import { type WebhookType, webhookTypes } from "../domain/webhooks/events.ts";
import { newSecret, rotated, type WebhookSecret } from "../signed-post/secret.ts";

/** Where a tenant receives webhooks about its jobs. */
export type WebhookEndpoint = {
  readonly id: string;
  readonly url: string;
  readonly types: readonly WebhookType[];
  readonly createdAt: Instant;
  /** The newest first. */
  readonly secrets: readonly WebhookSecret[];
};

/** The stored webhooks of one tenant. */
export type TenantWebhooks = {
  /** The oldest first. */
  readonly endpoints: readonly WebhookEndpoint[];
  /** They sign messages to the webhookUrl of a job; empty until the first one is needed. */
  readonly secrets: readonly WebhookSecret[];
};

export const noWebhooks: TenantWebhooks = { endpoints: [], secrets: [] };

export const maxEndpoints = 20;

export const isWebhookType = (text: string): text is WebhookType => webhookTypes.some((type) => type === text);

export const findEndpoint = ({ endpoints }: TenantWebhooks, id: string): WebhookEndpoint | null =>
  endpoints.find((endpoint) => endpoint.id === id) ?? null;

/** Null if the tenant has the maximum number of endpoints already. */
export const withEndpoint = (webhooks: TenantWebhooks, endpoint: WebhookEndpoint): TenantWebhooks | null =>
  webhooks.endpoints.length >= maxEndpoints ? null : { ...webhooks, endpoints: [...webhooks.endpoints, endpoint] };

/** Null if there is no endpoint with this id. */
export const withoutEndpoint = (webhooks: TenantWebhooks, id: string): TenantWebhooks | null =>
  findEndpoint(webhooks, id) === null
    ? null
    : { ...webhooks, endpoints: webhooks.endpoints.filter((endpoint) => endpoint.id !== id) };

/** Null if there is no endpoint with this id. */
export function withRotatedEndpoint(webhooks: TenantWebhooks, id: string, at: Instant): TenantWebhooks | null {
  if (findEndpoint(webhooks, id) === null) return null;
  const endpoints = webhooks.endpoints.map((endpoint) =>
    endpoint.id === id ? { ...endpoint, secrets: rotated(endpoint.secrets, at) } : endpoint,
  );
  return { ...webhooks, endpoints };
}

export const withSecret = (webhooks: TenantWebhooks): TenantWebhooks =>
  webhooks.secrets.length > 0 ? webhooks : { ...webhooks, secrets: [newSecret()] };

export const withRotatedSecret = (webhooks: TenantWebhooks, at: Instant): TenantWebhooks => ({
  ...webhooks,
  secrets: rotated(webhooks.secrets, at),
});
