import { setTimeout as pause } from "node:timers/promises";

/**
 * Asks again until the check holds; at the deadline it throws what the check threw last. The deadline has room for a machine
 * on which six test processes compete with something else: only a test that fails waits for it.
 */
export async function eventually<Result>(check: () => Promise<Result> | Result, withinMs = 30_000): Promise<Result> {
  const deadline = Date.now() + withinMs;
  for (let delayMs = 2; ; delayMs = Math.min(delayMs * 1.5, 100)) {
    try {
      return await check();
    } catch (failure) {
      if (Date.now() > deadline) throw failure;
      await pause(delayMs);
    }
  }
}
