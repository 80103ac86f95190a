import type { Route } from "../server/route.ts";
import { route } from "../server/route.ts";

/** What the process measures, as Prometheus reads it. It always answers: what cannot be asked now is left out. */
export type MetricsPage = {
  readonly contentType: string;
  print(): Promise<string>;
};

/** Counts are of all tenants together, so on the API it takes an operator's key. */
export const metricsRoute = (page: MetricsPage, scope: Route["scope"]): Route =>
  route({
    method: "GET",
    path: "/metrics",
    describes: {
      operation: "readMetrics",
      summary: "What the process measures, for Prometheus.",
      answers: { 200: { is: "The text format of Prometheus." } },
    },
    scope,
    offers: ["text/plain"],
    handle: async () => ({
      status: 200,
      type: page.contentType,
      headers: {},
      body: Buffer.from(await page.print()),
    }),
  });
