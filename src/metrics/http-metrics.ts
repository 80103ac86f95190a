import { Histogram, type Registry } from "prom-client";
import type { ServedRequest } from "../http/server/middleware.ts";
import { named } from "./registry.ts";

/** By the pattern of the route and never by the path, which holds ids. */
export function createHttpMetrics(registry: Registry): (request: ServedRequest) => void {
  const seconds = new Histogram({
    ...named("http_request_seconds", "From a request to its answer."),
    labelNames: ["method", "route", "status_class"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return ({ method, route, status, ms }) => {
    const labels = { method, route: route === "" ? "none" : route, status_class: `${Math.floor(status / 100)}xx` };
    seconds.observe(labels, ms / 1000);
  };
}
