import { createLifecycle, type Lifecycle } from "../../src/lifecycle.ts";
import type { Ground } from "./ground.ts";
import type { Options } from "./options.ts";
import type { Bench, Measurement, Row } from "./row.ts";
import { fullSizes, quickSizes } from "./sizes.ts";

export type Failure = { readonly name: string; readonly reason: string };
export type Outcome = { readonly rows: readonly Row[]; readonly failures: readonly Failure[] };

/** Measures in the time that it may take, and stops what it started; what goes wrong is an outcome, too. */
export async function measureWithin(
  measurement: Measurement,
  ground: Ground,
  { only, quick, rounds }: Options,
  lifecycle: Lifecycle,
): Promise<Outcome> {
  const isWanted = (name: string): boolean => name.includes(only);
  const bench: Bench = { ground, lifecycle, sizes: quick ? quickSizes : fullSizes, rounds };
  try {
    const rows = await within(measurement.timeoutMs, measurement.measure(bench));
    return { rows: rows.filter(({ name }) => isWanted(name)), failures: [] };
  } catch (failure) {
    const reason = failure instanceof Error ? failure.message : String(failure);
    return { rows: [], failures: measurement.rows.filter(isWanted).map((name) => ({ name, reason })) };
  } finally {
    await lifecycle.stop();
  }
}

/** What is started after the end, by a measurement that was given up, ends at once, and its caller gets an error. */
export function createOwnLifecycle(print: (line: string) => void): Lifecycle {
  const lifecycle = createLifecycle((failure, name) => print(`    ${name} could not be stopped: ${String(failure)}`));
  let isStopped = false;
  return {
    ...lifecycle,
    started: (name, stop) => {
      if (!isStopped) return lifecycle.started(name, stop);
      stop().catch(() => {});
      throw new Error(`${name} is not started any more`);
    },
    stop: () => {
      isStopped = true;
      return lifecycle.stop();
    },
  };
}

async function within<Result>(timeoutMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`It took longer than ${timeoutMs / 1000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
