import { collectDefaultMetrics, Gauge, Registry } from "prom-client";

/** The prefix of every name of Waybill's own. It does not depend on NATS_PREFIX, so the same dashboards and alerts fit every installation. */
const prefix = "waybill_";

/** Gauges whose names end as those of counters do. They are the sums of `nodejs_active_resources` and the like. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/**
 * A new registry with the metrics of the process and of Node, under the names that they have in every Node program:
 * `process_cpu_seconds_total`, `process_resident_memory_bytes`, `nodejs_eventloop_lag_p99_seconds`.
 */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
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
