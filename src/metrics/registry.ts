import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** The prefix of every name. It does not depend on NATS_PREFIX, so the same dashboards and alerts fit every installation. */
const prefix = "waybill_";

/** A new registry with the metrics of Node itself: memory, event loop, garbage collection. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix });
  return registry;
}

/** The name and the help text of a metric. */
export const named = (name: string, help: string) => ({ name: `${prefix}${name}`, help });

/** Always 1. Queries join its labels with other metrics of the process, for instance to find which release became slower. */
export function createBuildInfo(registry: Registry, version: string): void {
  const info = new Gauge({
    ...named("build_info", "1; the versions of Waybill and of Node that this process runs."),
    labelNames: ["version", "node"],
    registers: [registry],
  });
  info.set({ version, node: process.versions.node }, 1);
}
