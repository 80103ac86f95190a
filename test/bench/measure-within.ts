import process from "node:process";
import { createLifecycle, type Lifecycle } from "../../src/process/lifecycle.ts";
import { layGround } from "./ground.ts";
import type { Options } from "./options.ts";
import { type Bench, type Measurement, NotAvailable, type Row } from "./row.ts";
import { sizesOf } from "./sizes.ts";

export type Outcome =
  | { readonly kind: "measured"; readonly row: Row }
  | { readonly kind: "FAILED" | "not measured"; readonly name: string; readonly reason: string };

/** Measures in the time that it may take, and stops what it started; a failure is an outcome, too. */
export async function measureWithin(
  { name, timeoutMs, measure }: Measurement,
  options: Options,
  lifecycle: Lifecycle,
): Promise<Outcome> {
  const bench: Bench = {
    sizes: sizesOf(options),
    rounds: options.rounds,
    onFreshServers: async (work) => {
      const own = createOwnLifecycle();
      lifecycle.started("the servers", own.stop);
      try {
        return await work({ ground: await layGround(own), lifecycle: own });
      } finally {
        await own.stop();
      }
    },
  };
  try {
    return { kind: "measured", row: { name, ...(await within(timeoutMs, measure(bench))) } };
  } catch (failure) {
    const reason = failure instanceof Error ? failure.message : String(failure);
    return { kind: failure instanceof NotAvailable ? "not measured" : "FAILED", name, reason };
  } finally {
    await lifecycle.stop();
  }
}

/** A part that a measurement starts after it was given up ends at once, and its caller gets an error. */
export function createOwnLifecycle(): Lifecycle {
  const report = (failure: unknown, name: string): unknown =>
    process.stderr.write(`    ${name} could not be stopped: ${String(failure)}\n`);
  const lifecycle = createLifecycle(report);
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
