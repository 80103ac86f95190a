import { randomUUID } from "node:crypto";
import type { Instant } from "../domain/message.ts";
import { endWebhookTypes, type WebhookType } from "../domain/webhooks/events.ts";
import { newId } from "../event-log/new-id.ts";
import type { SafePost } from "../signed-post/safe-post.ts";
import { newSecret } from "../signed-post/secret.ts";
import { deliver } from "../signed-post/signed-post.ts";
import { type WebhookEndpoint, withEndpoint } from "./tenant-webhooks.ts";
import type { WebhookStore } from "./webhook-store.ts";

/** What work on the endpoints of a tenant needs. */
export type EndpointPorts = { readonly store: WebhookStore; readonly post: SafePost };

type Wanted = { readonly url: string; readonly types?: readonly WebhookType[] };

/** A new endpoint with a secret of its own, for the ends of jobs and mailings where no types are named. Null where there are as many as there may be. */
export async function createEndpoint(
  { store }: Pick<EndpointPorts, "store">,
  tenant: string,
  { url, types = endWebhookTypes }: Wanted,
  at: Instant,
): Promise<WebhookEndpoint | null> {
  const endpoint = { id: newId(), url, types: [...new Set(types)], createdAt: at, secrets: [newSecret()] };
  const { changed } = await store.change(tenant, (before) => withEndpoint(before, endpoint));
  return changed ? endpoint : null;
}

/** Sends an endpoint a signed message now, once, and says what came of it. */
export async function testEndpoint(
  { post }: Pick<EndpointPorts, "post">,
  endpoint: WebhookEndpoint,
  traceparent: string,
  at: Instant,
) {
  const webhookId = randomUUID();
  const payload = { type: "webhook.test", timestamp: at, data: { endpointId: endpoint.id } };
  const verdict = await deliver(post, endpoint, { id: webhookId, payload, traceparent });
  const { statusCode } = verdict;
  return verdict.kind === "delivered"
    ? { webhookId, delivered: true, statusCode, error: null }
    : { webhookId, delivered: false, statusCode, error: verdict.error };
}
