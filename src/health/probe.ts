import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { toLoggable } from "../process/logger.ts";

/**
 * Degraded is what works in part: it is shown, and no reason to take the process out of service. Other members are
 * shown beside it: how durable the log is, for instance.
 */
export type Condition = { readonly status: "up" | "degraded" | "down" } & Readonly<Record<string, unknown>>;

/** Whether something that the process depends on can be used now. */
export type Probe = {
  /** `nats`, `mysql`, … */
  readonly name: string;
  /** Whether a role of this process cannot do its work without it. */
  readonly isNeeded: boolean;
  /** To throw is to find it down. */
  readonly check: () => Promise<Condition>;
};

const probeTimeoutMs = 2000;

/** What the probe finds; one that fails, or does not answer in time, finds it down. */
export async function conditionOf({ name, check }: Probe, logger: Logger): Promise<Condition> {
  const deadline = new AbortController();
  try {
    return await Promise.race([check(), timeout(deadline.signal)]);
  } catch (failure) {
    logger.warn({ dependency: name, failure: toLoggable(failure) }, "a dependency is away");
    return { status: "down" };
  } finally {
    deadline.abort();
  }
}

async function timeout(signal: AbortSignal): Promise<never> {
  await pause(probeTimeoutMs, undefined, { signal });
  throw new Error(`There was no answer within ${probeTimeoutMs} ms.`);
}
