import type { AlertEvent } from "../domain/alerts/events.ts";
import type { JobEvent } from "../domain/job/events.ts";
import type { Delivery } from "./delivery.ts";
import type { StoredEvent, WaybillEvent } from "./event-log.ts";

/**
 * Events of the log. Each is delivered to one of the readers that share the feed, and again until one of them
 * acknowledges it.
 */
export interface EventFeed<Event extends WaybillEvent> {
  /**
   * Yields the available deliveries in batches that are never empty, until the signal aborts. Lost connections are
   * re-established.
   */
  batches(signal: AbortSignal): AsyncIterable<readonly Delivery<Event>[]>;
}

/** The decisions about all jobs. */
export type DecisionFeed = EventFeed<JobEvent>;

export type AlertFeed = EventFeed<AlertEvent>;

export type DecisionActor = { start(): void; stop(): Promise<void> };

/**
 * Acts on each decision of a feed and then acknowledges it. After a failure the decision is delivered again after
 * `tryAgainMs`, and after a crash without further action: acting twice must do no harm.
 */
export function actOnDecisions(
  feed: DecisionFeed,
  act: (decision: StoredEvent<JobEvent>) => Promise<void>,
  tryAgainMs: number,
  report: (failure: unknown) => void,
): DecisionActor {
  const stopping = new AbortController();
  let loop: Promise<void> | null = null;

  const take = async ({ entry, acknowledge, giveBack }: Delivery<JobEvent>): Promise<void> => {
    try {
      await act(entry);
      acknowledge();
    } catch (failure) {
      report(failure);
      giveBack(tryAgainMs);
    }
  };

  const run = async (): Promise<void> => {
    for await (const deliveries of feed.batches(stopping.signal)) await Promise.all(deliveries.map(take));
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
