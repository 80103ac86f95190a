import { setTimeout as pause } from "node:timers/promises";
import { LogFull, LogUnavailable } from "./event-log.ts";

const firstDelayMs = 100;
const longestDelayMs = 2000;

/**
 * Repeats a step until the log takes it: what has happened must be recorded, however long the log is away. Throws what
 * the log said last once the signal aborts, and at once whatever is no outage.
 */
export async function persistently<Result>(signal: AbortSignal, step: () => Promise<Result>): Promise<Result> {
  for (let delayMs = firstDelayMs; ; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
    try {
      return await step();
    } catch (failure) {
      const isOutage = failure instanceof LogUnavailable || failure instanceof LogFull;
      if (!isOutage || signal.aborted) throw failure;
      await pause(delayMs, undefined, { signal }).catch(() => {});
    }
  }
}
