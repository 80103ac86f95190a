import type { DeliveryListOptions, DeliveryRecord } from "../../../projections/webhook-deliveries/queries.ts";
import { deliveryAfter, foldDeliveries } from "../../domain/webhooks/delivery.ts";
import type { WebhookEvent } from "../../domain/webhooks/events.ts";
import { readDeliveries } from "../../webhooks/deliveries.ts";
import { findEndpoint, type WebhookEndpoint } from "../../webhooks/tenant-webhooks.ts";
import { deliveryPage, delivery as deliverySchema, toDeliveryAnswer } from "../answers/notices.ts";
import { type Answer, json, webhookDeliveryNotFound, webhookEndpointNotFound } from "../server/answer.ts";
import { type Parameters, whole } from "../server/query.ts";
import { toCause } from "../server/request-context.ts";
import { type ApiRequest, type Route, route } from "../server/route.ts";
import { askReadModel, awaitMinSequence, readSequenceHeader } from "./ask-read-model.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "webhooks" | "log" | "readPosition" | "now">;

const parameters: Parameters<DeliveryListOptions> = {
  cursor: whole(null, 1, Number.MAX_SAFE_INTEGER),
  limit: whole(20, 1, 100),
};

/** Lists what was sent to an endpoint, and sends it again. */
export const webhookDeliveryRoutes = (dependencies: Dependencies): readonly Route[] => [
  route<DeliveryListOptions>({
    method: "GET",
    path: "/webhook-endpoints/:id/deliveries",
    describes: {
      operation: "listWebhookDeliveries",
      summary: "The deliveries to an endpoint, newest first.",
      headers: ["Min-Sequence"],
      answers: { 200: { is: "A page of them.", json: deliveryPage, headers: ["Read-Sequence"] } },
      needs: ["log", "read-model"],
      problems: ["webhook-endpoint-not-found", "read-model-behind"],
    },
    query: parameters,
    handle: async (request) => {
      const endpoint = await endpointOf(dependencies, request);
      return endpoint === null ? webhookEndpointNotFound() : await list(dependencies, endpoint, request);
    },
  }),
  route({
    method: "POST",
    path: "/webhook-endpoints/:id/deliveries/:deliveryId/redeliver",
    describes: {
      operation: "redeliverWebhook",
      summary: "Send a message again, with the same id.",
      answers: { 202: { is: "The delivery is about to be sent.", json: deliverySchema, headers: ["Event-Sequence"] } },
      needs: ["log-writes", "read-model"],
      problems: ["webhook-endpoint-not-found", "webhook-delivery-not-found"],
    },
    handle: async (request) => {
      const endpoint = await endpointOf(dependencies, request);
      return endpoint === null ? webhookEndpointNotFound() : await redeliver(dependencies, endpoint, request);
    },
  }),
];

const endpointOf = async <Query>(
  dependencies: Dependencies,
  { context, part, inTime }: ApiRequest<Query>,
): Promise<WebhookEndpoint | null> =>
  findEndpoint(await inTime(dependencies).webhooks.store.read(context.tenant), part("id"));

async function list(
  { webhooks, readPosition }: Dependencies,
  { id }: WebhookEndpoint,
  { context, query, minSequence }: ApiRequest<DeliveryListOptions>,
): Promise<Answer> {
  const behind = await awaitMinSequence(readPosition, "webhook-deliveries", minSequence);
  if (behind !== null) return behind;
  const found = await askReadModel(() => webhooks.deliveries.list(context.tenant, id, query));
  const { deliveries, nextCursor, readSequence } = found;
  return json({ data: deliveries.map(toDeliveryAnswer), nextCursor }, readSequenceHeader(readSequence));
}

/**
 * Begins the next round: the same message with the same id, however the earlier rounds ended. The read model names the job
 * of the delivery, and the log its present state. Two requests before the message is sent send it once.
 */
async function redeliver(
  dependencies: Dependencies,
  { id }: WebhookEndpoint,
  { context, part, inTime }: ApiRequest,
): Promise<Answer> {
  const { webhooks, log, now } = inTime(dependencies);
  const projected = await askReadModel(() => webhooks.deliveries.find(context.tenant, id, part("deliveryId")));
  if (projected === null) return webhookDeliveryNotFound();
  const job = { tenant: context.tenant, jobId: projected.jobId };
  const notices = await readDeliveries(log, job);
  const state = foldDeliveries(notices.map(({ event }) => event)).get(projected.deliveryId);
  if (state === undefined) return webhookDeliveryNotFound();
  const toAnswer = (delivery: Omit<DeliveryRecord, "jobId">) => toDeliveryAnswer({ ...delivery, jobId: job.jobId });
  if (state.status === "waiting" && state.attempt === 0) return json(toAnswer(state), {}, 202);
  const { deliveryId, endpoint, type, jobSequence, round } = state;
  const event: WebhookEvent = {
    type: "WebhookRedeliveryRequested",
    at: now(),
    data: { deliveryId, endpoint, type, jobSequence, round: round + 1 },
  };
  const requested = { ...toCause(context), id: `${deliveryId}/${round + 1}/${event.type}`, event };
  const sequence = await log.record(job, [requested]);
  return json(toAnswer(deliveryAfter(state, event) ?? state), { "Event-Sequence": String(sequence) }, 202);
}
