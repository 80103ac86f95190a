import type { DeliveryRecord } from "../../../projections/webhook-deliveries/queries.ts";
import type { WebhookEndpoint } from "../../webhooks/tenant-webhooks.ts";

/** An endpoint as it stands in an answer, without what signs. */
export const toEndpointAnswer = ({ id, url, types, createdAt }: WebhookEndpoint) => ({ id, url, types, createdAt });

/** The same with its secret: when it was made, and when the secret was replaced. */
export const toSecretAnswer = (endpoint: WebhookEndpoint) => ({
  ...toEndpointAnswer(endpoint),
  secret: endpoint.secrets[0]?.text,
  /** The one before signs as well until then. */
  previousValidUntil: endpoint.secrets[1]?.validUntil ?? null,
});

export const toDeliveryAnswer = (delivery: DeliveryRecord) => ({
  id: delivery.deliveryId,
  jobId: delivery.jobId,
  type: delivery.type,
  status: delivery.status,
  round: delivery.round,
  attempt: delivery.attempt,
  statusCode: delivery.statusCode,
  error: delivery.error,
  createdAt: delivery.createdAt,
  lastAttemptAt: delivery.lastAttemptAt,
  nextAttemptAt: delivery.nextAttemptAt,
});
