import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Served } from "../http/server/middleware.ts";
import { named } from "./registry.ts";

type Watched = {
  readonly streams: () => number;
  readonly bodies: { readonly held: () => number; readonly refused: () => number };
};

/** Long-lived requests and the memory of request bodies; only in processes with an API. */
export type RequestMetrics = { watch(watched: Watched): void };

export const createRequestMetrics = (registry: Registry): RequestMetrics => ({
  watch: ({ streams, bodies }) => {
    const registers = [registry];
    new Gauge({
      ...named("sse_clients", "Requests with an open response: streams, feeds, and requests that wait."),
      registers,
      collect() {
        this.set(streams());
      },
    });
    new Gauge({
      ...named("request_bodies_bytes", "Memory reserved for the bodies of current requests, out of BODIES_MAX_BYTES."),
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

/** Labelled with the pattern of the route, never with the path, which contains ids. */
export function createHttpMetrics(registry: Registry): Served {
  const seconds = new Histogram({
    ...named("http_request_seconds", "Time from a request to its response, without what the client asked to wait for."),
    labelNames: ["method", "route", "status_class"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return ({ method, route, status, ms }) => {
    const labels = { method, route: route === "" ? "none" : route, status_class: `${Math.floor(status / 100)}xx` };
    seconds.observe(labels, ms / 1000);
  };
}
