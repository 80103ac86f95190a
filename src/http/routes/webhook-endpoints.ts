import { checkWebhookUrl } from "../../intake/check-request.ts";
import { createFairSemaphore, type FairSemaphore } from "../../process/semaphore.ts";
import { faultsIn } from "../../schemas/fault.ts";
import { readWebhookEndpointRequest, webhookEndpointRequest } from "../../schemas/webhook-request.ts";
import { createEndpoint, testEndpoint } from "../../webhooks/endpoints.ts";
import { findEndpoint, maxEndpoints, withoutEndpoint, withRotatedEndpoint } from "../../webhooks/tenant-webhooks.ts";
import {
  endpointPage,
  endpoint as endpointSchema,
  endpointWithSecret,
  toEndpointAnswer,
  toSecretAnswer,
  webhookTestResult,
} from "../answers/notices.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { type Answer, json, refuse, refuseFaults, refuseForNow, webhookEndpointNotFound } from "../server/answer.ts";
import { type ApiRequest, needed, type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

type Dependencies = Pick<RouteDependencies, "webhooks" | "now">;

/** Tests at a time, for all tenants together and for one: each holds two connections for as long as its receiver is silent. */
const [testsAtOnce, testsOfTenant] = [32, 4];

/** The URLs at which a tenant receives events of its jobs. */
export const webhookEndpointRoutes = (
  dependencies: Dependencies,
  tests = createFairSemaphore(testsAtOnce, testsOfTenant),
): readonly Route[] => [
  route({
    method: "GET",
    path: "/webhook-endpoints",
    describes: {
      operation: "listWebhookEndpoints",
      summary: "The tenant's webhook endpoints.",
      answers: { 200: { is: "All of them.", json: endpointPage } },
      needs: ["log"],
    },
    handle: async ({ context, inTime }) => {
      const { endpoints } = await inTime(dependencies).webhooks.store.read(context.tenant);
      return json({ data: endpoints.map(toEndpointAnswer), nextCursor: null });
    },
  }),
  route({
    method: "POST",
    path: "/webhook-endpoints",
    describes: {
      operation: "createWebhookEndpoint",
      summary: "Create an endpoint; its secret is shown once.",
      body: needed(webhookEndpointRequest),
      answers: { 201: { is: "The endpoint with its secret.", json: endpointWithSecret } },
      needs: ["log-writes"],
      problems: ["too-many-webhook-endpoints"],
    },
    takesBody: true,
    handle: (request) => create(dependencies, request),
  }),
  route({
    method: "DELETE",
    path: "/webhook-endpoints/:id",
    describes: {
      operation: "deleteWebhookEndpoint",
      summary: "Delete an endpoint; it receives nothing more.",
      answers: { 200: { is: "The endpoint as it was.", json: endpointSchema } },
      needs: ["log-writes"],
      problems: ["webhook-endpoint-not-found"],
    },
    handle: async ({ context, part, inTime }) => {
      const { store } = inTime(dependencies).webhooks;
      const found = findEndpoint(await store.read(context.tenant), part("id"));
      if (found === null) return webhookEndpointNotFound();
      await store.change(context.tenant, (before) => withoutEndpoint(before, found.id));
      return json(toEndpointAnswer(found));
    },
  }),
  route({
    method: "POST",
    path: "/webhook-endpoints/:id/rotate",
    describes: {
      operation: "rotateWebhookSecret",
      summary: "Replace the secret; the previous one also signs for a while.",
      answers: { 200: { is: "The endpoint with its new secret.", json: endpointWithSecret } },
      needs: ["log-writes"],
      problems: ["webhook-endpoint-not-found"],
    },
    handle: async ({ context, part, inTime }) => {
      const { webhooks } = await inTime(dependencies).webhooks.store.change(context.tenant, (before) =>
        withRotatedEndpoint(before, part("id"), dependencies.now()),
      );
      const found = findEndpoint(webhooks, part("id"));
      return found === null ? webhookEndpointNotFound() : json(toSecretAnswer(found));
    },
  }),
  route({
    method: "POST",
    path: "/webhook-endpoints/:id/test",
    describes: {
      operation: "testWebhookEndpoint",
      summary: "Send one signed test message now and report the result.",
      answers: { 200: { is: "The result of the test.", json: webhookTestResult } },
      needs: ["log"],
      problems: ["webhook-endpoint-not-found"],
    },
    handle: (request) => test(dependencies, tests, request),
  }),
];

async function create(dependencies: Dependencies, { context, body, inTime }: ApiRequest): Promise<Answer> {
  const { webhooks, now } = inTime(dependencies);
  const request = readWebhookEndpointRequest(body ?? {});
  const url = request.valid ? checkWebhookUrl(request.value.url, "url", webhooks.allowed) : request;
  if (!request.valid || !url.valid) return refuseFaults(faultsIn(url));
  const endpoint = await createEndpoint(webhooks, context.tenant, request.value, now());
  if (endpoint === null) {
    return refuse(
      "too-many-webhook-endpoints",
      `The tenant has ${maxEndpoints} endpoints, which is the most it may have.`,
    );
  }
  return json(toSecretAnswer(endpoint), {}, 201);
}

async function test(
  { webhooks, now }: Dependencies,
  tests: FairSemaphore,
  { context: { tenant, traceparent }, part }: ApiRequest,
): Promise<Answer> {
  const endpoint = findEndpoint(await webhooks.store.read(tenant), part("id"));
  if (endpoint === null) return webhookEndpointNotFound();
  const result = await tests.runWithin(0, tenant, () => testEndpoint(webhooks, endpoint, traceparent, now()));
  if (result === null) return refuseForNow("rate-limited", "Other tests of webhooks have no answer yet. Try again.", 5);
  return json(result satisfies AnswerOf<typeof webhookTestResult>);
}
