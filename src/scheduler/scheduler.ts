import type { JobEvent, JobQueued } from "../domain/job/events.ts";
import type { Delivery } from "../event-log/delivery.ts";
import type { EventLog, NewEvent, StoredEvent } from "../event-log/event-log.ts";
import type { Crowd } from "./crowd.ts";
import type { DecisionFeed } from "./decision-feed.ts";
import { turnOpenedBy } from "./queueing.ts";

export type Scheduler = {
  start(): void;
  stop(): Promise<void>;
};

type Report = (failure: unknown) => void;

/** A decision that could not be acted upon comes back after this. */
const tryAgainMs = 500;

/**
 * Queues jobs that may run at once, straight from the log. A crash between a decision and its JobQueued leaves nothing
 * stuck, because the decision was not acknowledged; a JobQueued that is there twice starts nothing the second time.
 */
export function createScheduler(log: EventLog, feed: DecisionFeed, crowd: Crowd, report: Report): Scheduler {
  const stopping = new AbortController();
  let loop: Promise<void> | null = null;

  const act = async ({ entry, acknowledge, giveBack }: Delivery<JobEvent>): Promise<void> => {
    try {
      const turn = turnOpenedBy(entry.event);
      if (turn !== null) await log.record(entry, toQueued(entry, crowd.place(entry, turn)));
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

/** Its id derives from the decision that opened the turn, so that deciding it twice is recognised. */
export const toQueued = (
  cause: Pick<StoredEvent, "jobId" | "sequence" | "id" | "correlationId" | "traceparent">,
  turn: JobQueued["data"],
): NewEvent<JobQueued> => ({
  id: `${cause.jobId}/${cause.sequence}/JobQueued`,
  actor: "scheduler",
  correlationId: cause.correlationId,
  causationId: cause.id,
  traceparent: cause.traceparent,
  event: { type: "JobQueued", at: new Date().toISOString(), data: turn },
});
