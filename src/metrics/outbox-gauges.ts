import { Gauge, type Registry } from "prom-client";
import type { OutboxGauge } from "../outbox/outbox.ts";
import type { GaugeSource } from "./refreshed-gauges.ts";
import { named } from "./registry.ts";

/** What applications have written that is no job yet, of all tenants together; every process shows the same. */
export function createOutboxGauges(registry: Registry, outbox: OutboxGauge): readonly GaugeSource[] {
  const registers = [registry];
  const rows = new Gauge({
    ...named("outbox_pending_rows", "Rows of the outbox that wait to become a job, counted up to 100000."),
    registers,
  });
  const oldest = new Gauge({
    ...named(
      "outbox_oldest_pending_age_seconds",
      "How long ago the one of them was written that has waited longest; 0 where none waits.",
    ),
    registers,
  });
  const ask = async () => {
    const backlog = await outbox.backlog();
    return () => {
      rows.set(backlog.rows);
      oldest.set(backlog.oldestAgeSeconds);
    };
  };
  return [{ gauges: [rows, oldest], ask }];
}
