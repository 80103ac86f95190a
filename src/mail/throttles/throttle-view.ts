import { isOver, type ThrottledReceiver } from "../../domain/throttles/throttle.ts";
import type { ThrottleStore } from "./throttle-store.ts";

/**
 * The receivers that are slowed down at this moment, the slowest first. Reads only what has changed since it was asked
 * last. Throws Unavailable.
 */
export function createThrottleView(
  store: Pick<ThrottleStore, "changes">,
  now: () => number = Date.now,
): () => Promise<readonly ThrottledReceiver[]> {
  const known = new Map<string, ThrottledReceiver>();
  let reading: Promise<void> | null = null;
  const read = async (): Promise<void> => {
    for (const { route, receiver, throttle } of await store.changes()) {
      const key = `${route} ${receiver}`;
      if (throttle === null) known.delete(key);
      else known.set(key, { route, receiver, throttle });
    }
  };
  return async () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    await reading;
    for (const [key, { throttle }] of known) if (isOver(throttle, now())) known.delete(key);
    const paused = ({ throttle }: ThrottledReceiver): number => Math.max(0, throttle.pausedUntil - now());
    return [...known.values()].sort(
      (one, other) => paused(other) - paused(one) || one.throttle.perSecond - other.throttle.perSecond,
    );
  };
}
