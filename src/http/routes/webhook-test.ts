import { randomUUID } from "node:crypto";
import { deliver, type Verdict } from "../../signed-post/signed-post.ts";
import { findEndpoint } from "../../webhooks/tenant-webhooks.ts";
import { webhookTestResult } from "../answers/notices.ts";
import { json, webhookEndpointNotFound } from "../server/answer.ts";
import { route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** POST /webhook-endpoints/:id/test: sends a signed message now, once, and answers what came of it. */
export const webhookTestRoute = ({ webhooks, now }: Pick<RouteDependencies, "webhooks" | "now">) =>
  route({
    method: "POST",
    path: "/webhook-endpoints/:id/test",
    describes: {
      operation: "testWebhookEndpoint",
      summary: "Send a signed message now, once, and say what came of it.",
      answers: { 200: { is: "What came of it.", json: webhookTestResult } },
      needs: ["log"],
      problems: ["webhook-endpoint-not-found"],
    },
    handle: async ({ context, part }) => {
      const endpoint = findEndpoint(await webhooks.store.read(context.tenant), part("id"));
      if (endpoint === null) return webhookEndpointNotFound();
      const id = randomUUID();
      const payload = { type: "webhook.test", timestamp: now(), data: { endpointId: endpoint.id } };
      const verdict = await deliver(webhooks.post, endpoint, { id, payload, traceparent: context.traceparent });
      return json({ webhookId: id, ...toResult(verdict) });
    },
  });

const toResult = (verdict: Verdict) => ({
  delivered: verdict.kind === "delivered",
  statusCode: verdict.statusCode,
  error: verdict.kind === "delivered" ? null : verdict.error,
});
