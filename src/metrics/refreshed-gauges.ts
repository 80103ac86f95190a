import { setTimeout as pause } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import type { Condition } from "../health/probe.ts";
import type { OutboxGauge } from "../outbox/outbox.ts";
import { named } from "./registry.ts";

/** Gauges whose values are read from a source when the metrics are requested. */
export type GaugeSource = {
  readonly gauges: readonly Gauge[];
  /** Reads the source; the result sets the gauges. */
  readonly ask: () => Promise<() => void>;
};

/** Longer than a probe takes to find that a dependency does not answer: that is what its gauge is for. */
const askWithinMs = 3000;

/**
 * Reads every source, and returns when each has answered or timed out. The gauges of a source that did not answer are
 * left out: an old value would look like a new one.
 */
export function createRefresh(sources: readonly GaugeSource[]): () => Promise<void> {
  let refreshing: Promise<void> | null = null;
  const refreshAll = async (): Promise<void> => {
    await Promise.all(sources.map(refresh));
  };
  return () => {
    refreshing ??= refreshAll().finally(() => {
      refreshing = null;
    });
    return refreshing;
  };
}

async function refresh({ gauges, ask }: GaugeSource): Promise<void> {
  const set = await withinTime(ask).catch(() => null);
  for (const gauge of gauges) hide(gauge);
  // The parts that need the source log why it is unavailable; here its metrics are just left out.
  set?.();
}

/** A gauge without labels is 0 after a reset, which would look like a value. */
function hide(gauge: Gauge): void {
  gauge.reset();
  gauge.remove({});
}

async function withinTime<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const answered = new AbortController();
  const late = pause(askWithinMs, undefined, { signal: answered.signal }).then(() => {
    throw new Error(`There was no answer within ${askWithinMs} ms.`);
  });
  // The signal aborts below, when nothing waits for this timer any more.
  late.catch(() => undefined);
  try {
    return await Promise.race([ask(), late]);
  } finally {
    answered.abort();
  }
}

const numbers: Readonly<Record<Condition["status"], number>> = { up: 1, degraded: 0.5, down: 0 };

/** The findings of `/readyz` as numbers, so that alert rules can use them. */
export function createDependencyGauges(
  registry: Registry,
  examine: () => Promise<ReadonlyMap<string, Condition>>,
): readonly GaugeSource[] {
  const gauge = new Gauge({
    ...named(
      "dependency_up",
      "1 while a dependency can be used, 0.5 while it works in part, 0 while it is unavailable.",
    ),
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

/** Rows of all tenants that applications have written and that are not jobs yet; every process shows the same values. */
export function createOutboxGauges(registry: Registry, outbox: OutboxGauge): readonly GaugeSource[] {
  const registers = [registry];
  const rows = new Gauge({
    ...named("outbox_pending_rows", "Rows of the outbox that wait to become a job, counted up to 100000."),
    registers,
  });
  const oldest = new Gauge({
    ...named("outbox_oldest_pending_age_seconds", "Age of the oldest of these rows; 0 if none waits."),
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
