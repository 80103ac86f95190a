import { collectDefaultMetrics, Registry } from "prom-client";

/** Before every name, whatever NATS_PREFIX says: dashboards and alerts are made once. */
const prefix = "waybill_";

/** A registry of one's own with the metrics of Node itself: memory, event loop, garbage collection. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix });
  return registry;
}

/** The name and the sentence of a metric. */
export const named = (name: string, help: string) => ({ name: `${prefix}${name}`, help });
