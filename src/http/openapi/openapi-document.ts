import type { Route } from "../server/route.ts";
import { collectComponents } from "./components.ts";
import { templateOf, toOperation } from "./operation.ts";

/** A route and the path that it is mounted under. */
export type PlacedRoute = { readonly base: string; readonly route: Route };

const description = `Waybill takes bulk e-mail jobs and other slow work, does them in the background, and can show afterwards what happened.

Everything under \`/api\` answers under \`/api/v1\` as well. Times are RFC 3339 in UTC with milliseconds, ids are UUIDs. Answers
may get more members: leave aside what you do not know. Unknown fields and parameters of a request are refused.

Every answer has \`X-Request-Id\`, taken from the request or made. What is wrong is an \`application/problem+json\` (RFC 9457)
whose \`code\` is stable; a path that no route has is 404 \`route-not-found\`, another method 405 \`method-not-allowed\`, and what
is not HTTP at all 400 \`invalid-request\`, 408 \`request-timeout\` or 431 \`headers-too-large\`.

What is published to subscribers of the event log stands in [the AsyncAPI document](asyncapi.json).`;

/** The OpenAPI 3.1 document of these routes, built from the schemas that check requests and type answers. */
export function openApiDocument(placed: readonly PlacedRoute[]): object {
  const components = collectComponents("#/components/schemas");
  const paths = new Map<string, Record<string, object>>();
  for (const { base, route } of placed) {
    const path = base + templateOf(route.path);
    paths.set(path, { ...paths.get(path), [route.method.toLowerCase()]: toOperation(route, base, components) });
  }
  return {
    openapi: "3.1.1",
    info: { title: "Waybill", version: "1", description, license: { name: "MIT", identifier: "MIT" } },
    // Relative to the place where the client found the document itself.
    servers: [{ url: "." }],
    paths: Object.fromEntries(paths),
    components: {
      schemas: components.all(),
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description:
            "An API key; `waybill keys create` makes one. Each operation names the scope that the key needs. On a developer's own machine the API asks for no key until the first one is made.",
        },
      },
    },
  };
}
