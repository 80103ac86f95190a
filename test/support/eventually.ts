import { setTimeout as pause } from "node:timers/promises";

/** Asks again until the check holds; at the deadline it throws what the check threw last. */
export async function eventually<Result>(check: () => Promise<Result> | Result, withinMs = 10_000): Promise<Result> {
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
