import { setTimeout as pause } from "node:timers/promises";
import type { Gauge } from "prom-client";

/** Gauges that are set by asking somebody. */
export type GaugeSource = {
  readonly gauges: readonly Gauge[];
  /** Asks, and answers how to set them. */
  readonly ask: () => Promise<() => void>;
};

const askWithinMs = 2000;

/**
 * Asks every source, and returns when all have answered or had their time. The gauges of one that did not answer are
 * not shown at all: an old value would look like a new one.
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
  // Why somebody is away is logged by those who need it; here it shows by what is missing.
  set?.();
}

/** A gauge without labels is 0 after a reset, as if somebody had said so. */
function hide(gauge: Gauge): void {
  gauge.reset();
  gauge.remove({});
}

async function withinTime<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const answered = new AbortController();
  const late = pause(askWithinMs, undefined, { signal: answered.signal }).then(() => {
    throw new Error(`There was no answer within ${askWithinMs} ms.`);
  });
  // Aborted below, when nobody waits for it any more.
  late.catch(() => undefined);
  try {
    return await Promise.race([ask(), late]);
  } finally {
    answered.abort();
  }
}
