import { Counter, Gauge, type Registry } from "prom-client";
import { named } from "./registry.ts";

type Watched = {
  readonly streams: () => number;
  readonly bodies: { readonly held: () => number; readonly refused: () => number };
};

/** What requests hold that go on, and that have bodies; only in processes with an API. */
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
