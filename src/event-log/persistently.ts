import { setTimeout as pause } from "node:timers/promises";
import { Unavailable } from "../domain/unavailable.ts";
import { LogFull } from "./log-failures.ts";

const firstDelayMs = 100;
const longestDelayMs = 2000;

/** The log is away, or has no room: the step is valid and will be repeated later. */
export const isOutage = (failure: unknown): boolean => failure instanceof Unavailable || failure instanceof LogFull;

/**
 * Repeats a step until the log accepts it: what has happened must be recorded, however long the log is away. Throws the
 * log's last error once the signal aborts, and throws at once any failure that is not an outage, or an outage that is
 * not worth waiting for.
 */
export async function persistently<Result>(
  signal: AbortSignal,
  step: () => Promise<Result>,
  isWorthWaiting = isOutage,
): Promise<Result> {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
    try {
      return await step();
    } catch (failure) {
      if (!isWorthWaiting(failure) || signal.aborted) throw failure;
      await pause(delayMs, undefined, { signal }).catch(() => {});
    }
  }
}
