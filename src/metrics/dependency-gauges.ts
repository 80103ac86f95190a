import { Gauge, type Registry } from "prom-client";
import type { Condition } from "../health/probe.ts";
import type { GaugeSource } from "./refreshed-gauges.ts";
import { named } from "./registry.ts";

const numbers: Readonly<Record<Condition["status"], number>> = { up: 1, degraded: 0.5, down: 0 };

/** The findings of `/readyz` as numbers, so that an alert need not ask for them by itself. */
export function createDependencyGauges(
  registry: Registry,
  examine: () => Promise<ReadonlyMap<string, Condition>>,
): readonly GaugeSource[] {
  const gauge = new Gauge({
    ...named("dependency_up", "1 while a dependency can be used, 0.5 while it works in part, 0 while it is away."),
    labelNames: ["dependency"],
    registers: [registry],
  });
  const ask = async () => {
    const found = await examine();
    return () => {
      for (const [dependency, { status }] of found) gauge.set({ dependency }, numbers[status]);
    };
  };
  return [{ gauges: [gauge], ask }];
}
