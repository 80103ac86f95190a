import { setTimeout as pause } from "node:timers/promises";

/** A process cannot start, and waiting does not help: the message contains the remedy for the operator. */
export class CannotStart extends Error {
  override readonly name: string = "CannotStart";
}

export type Lifecycle = {
  /** Registers a started part by its name and the function that stops it, which may take as long as others or `withinMs`. */
  started(name: string, stop: () => Promise<void>, withinMs?: number): void;
  /** Aborts once everything is to stop. A part that could delay the stop for long listens to it and gives up in time. */
  readonly stopping: AbortSignal;
  /** Aborts `stopping` before the stop itself begins. */
  announceStop(): void;
  /** Stops every part once, in reverse order, even if another one fails to stop, or hangs. A second call waits for the same stop. */
  stop(): Promise<void>;
};

type Report = (failure: unknown, name: string) => void;

/** A part that takes longer than `mostMs` to stop is reported and left alone: those that were started before it have to stop, too. */
export function createLifecycle(report: Report, mostMs = Number.POSITIVE_INFINITY): Lifecycle {
  const parts: { name: string; stop: () => Promise<void>; withinMs: number }[] = [];
  const announced = new AbortController();
  let stopped: Promise<void> | null = null;

  const stopAll = async (): Promise<void> => {
    for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
      try {
        await inTime(part.stop(), part.withinMs);
      } catch (failure) {
        report(failure, part.name);
      }
    }
  };

  return {
    started: (name, stop, withinMs = mostMs) => {
      parts.push({ name, stop, withinMs });
    },
    stopping: announced.signal,
    announceStop: () => announced.abort(),
    stop: () => {
      announced.abort();
      stopped ??= stopAll();
      return stopped;
    },
  };
}

async function inTime(stopping: Promise<void>, ms: number): Promise<void> {
  if (ms === Number.POSITIVE_INFINITY) return await stopping;
  const over = new AbortController();
  const late = pause(ms, undefined, { signal: over.signal }).then(() => {
    throw new Error(`It did not stop within ${ms} ms.`);
  });
  late.catch(() => {});
  try {
    await Promise.race([stopping, late]);
  } finally {
    over.abort();
  }
}
