import type { JobEvent } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";
import type { DecisionFeed } from "../scheduler/decision-feed.ts";
import { completeErasure, type ErasurePorts } from "./complete-erasure.ts";

export type Eraser = { start(): void; stop(): Promise<void> };

/** What could not be erased now comes back after this. */
const tryAgainMs = 5000;

/**
 * Sees to it that what was decided is done: whoever decided to erase something does it at once, but may die before. It
 * hears of every decision until it has acknowledged it, and mostly finds that nothing is left to do.
 */
export function createEraser(ports: ErasurePorts, feed: DecisionFeed, report: (failure: unknown) => void): Eraser {
  const stopping = new AbortController();
  let loop: Promise<void> | null = null;

  const act = async ({ entry, acknowledge, giveBack }: Delivery<JobEvent>): Promise<void> => {
    try {
      if (entry.event.type === "JobContentErased") await completeErasure(ports, entry);
      acknowledge();
    } catch (failure) {
      report(failure);
      giveBack(tryAgainMs);
    }
  };

  const run = async (): Promise<void> => {
    for await (const deliveries of feed.batches(stopping.signal)) await Promise.all(deliveries.map(act));
  };

  return {
    start: () => {
      loop ??= run();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
}
