import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { ServedRequest } from "../http/server/middleware.ts";
import { named } from "./registry.ts";

type Watched = {
  readonly streams: () => number;
  readonly bodies: { readonly held: () => number; readonly refused: () => number };
};

/** What long-lived requests and request bodies take; only in processes with an API. */
export type RequestMetrics = { watch(watched: Watched): void };

export const createRequestMetrics = (registry: Registry): RequestMetrics => ({
  watch: ({ streams, bodies }) => {
    const registers = [registry];
    new Gauge({
      ...named("sse_clients", "Requests whose answer goes on: streams, feeds, and those that wait."),
      registers,
      collect() {
        this.set(streams());
      },
    });
    new Gauge({
      ...named("request_bodies_bytes", "Memory set aside for the bodies of requests in hand, of BODIES_MAX_BYTES."),
      registers,
      collect() {
        this.set(bodies.held());
      },
    });
    new Counter({
      ...named("request_bodies_refused_total", "Requests refused because there was no memory left for their bodies."),
      registers,
      collect() {
        this.reset();
        this.inc(bodies.refused());
      },
    });
  },
});

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
