import { Gauge, type Registry } from "prom-client";
import { named } from "./registry.ts";

/** How many clients have an answer that goes on; only in processes with an API. */
export type StreamMetrics = { watch(taken: () => number): void };

export const createStreamMetrics = (registry: Registry): StreamMetrics => ({
  watch: (taken) => {
    new Gauge({
      ...named("sse_clients", "Requests whose answer goes on: streams, feeds, and those that wait."),
      registers: [registry],
      collect() {
        this.set(taken());
      },
    });
  },
});
