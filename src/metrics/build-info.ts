import { Gauge, type Registry } from "prom-client";
import { readVersion } from "../release.ts";
import { named } from "./registry.ts";

/** Always 1. Its labels are joined with what else a process says: which release it was that became slower. */
export function createBuildInfo(registry: Registry): void {
  const info = new Gauge({
    ...named("build_info", "1; the versions of Waybill and of Node that this process runs."),
    labelNames: ["version", "node"],
    registers: [registry],
  });
  info.set({ version: readVersion(), node: process.versions.node }, 1);
}
