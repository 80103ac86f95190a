import type { JobEvent } from "../domain/job/events.ts";
import { foldDeliveries } from "../domain/webhooks/delivery.ts";
import { notifiedTypes, type WebhookType } from "../domain/webhooks/events.ts";
import type { DecisionFeed } from "../event-log/decision-feed.ts";
import type { Delivery } from "../event-log/delivery.ts";
import type { EventLog, StoredEvent } from "../event-log/event-log.ts";
import { deliveryIdOf } from "../signed-post/signed-post.ts";
import { readDeliveries } from "./deliveries.ts";
import type { Receivers } from "./receivers.ts";
import type { Semaphore } from "./semaphore.ts";
import type { DeliveryAttempt, Sender } from "./sender.ts";

type Report = (failure: unknown) => void;

/** After a failure, the decision is delivered again after this delay. */
const tryAgainMs = 500;
/** Well within the time after which the server hands the decision to another process. */
const keepEveryMs = 3000;

/**
 * Makes the first attempt of every delivery, straight from the log and so without a database. A decision is acknowledged
 * once the outcomes of all its first attempts are recorded. An attempt that is recorded already is not made again,
 * however often the decision is delivered.
 */
export function createPublisher(
  log: EventLog,
  feed: DecisionFeed,
  receivers: Receivers,
  sender: Sender,
  semaphore: Semaphore,
  report: Report,
) {
  const held = new Map<number, Delivery<JobEvent>>();

  const publish = async ({ entry, acknowledge, giveBack }: Delivery<JobEvent>): Promise<void> => {
    try {
      const type = notifiedTypes[entry.event.type];
      const attempts = type === undefined ? [] : await firstAttempts(log, receivers, entry, type);
      await Promise.all(attempts.map((attempt) => sender.send(attempt, semaphore.givenUp)));
      if (!semaphore.givenUp.aborted) acknowledge();
    } catch (failure) {
      report(failure);
      giveBack(tryAgainMs);
    } finally {
      held.delete(entry.sequence);
    }
  };

  return async (): Promise<void> => {
    const keeping = setInterval(() => {
      for (const delivery of held.values()) delivery.keep();
    }, keepEveryMs);
    try {
      for await (const deliveries of feed.batches(semaphore.stopping)) {
        // A decision that is in progress was delivered twice: it comes again if this try fails.
        const fresh = deliveries.filter(({ entry }) => !held.has(entry.sequence));
        for (const delivery of fresh) held.set(delivery.entry.sequence, delivery);
        for (const delivery of fresh) await semaphore.take(() => publish(delivery));
      }
    } finally {
      clearInterval(keeping);
    }
  };
}

async function firstAttempts(
  log: EventLog,
  receivers: Receivers,
  entry: StoredEvent<JobEvent>,
  type: WebhookType,
): Promise<readonly DeliveryAttempt[]> {
  const { tenant, jobId, id, sequence, correlationId, traceparent, event } = entry;
  const job = { tenant, jobId };
  const endpoints = await receivers.endpointsFor(job, type, event.at);
  if (endpoints.length === 0) return [];
  const known = foldDeliveries((await readDeliveries(log, job)).map((notice) => notice.event));
  return endpoints
    .map((endpoint) => ({ endpoint, deliveryId: deliveryIdOf(job, id, endpoint) }))
    .filter(({ deliveryId }) => !known.has(deliveryId))
    .map(({ endpoint, deliveryId }) => ({
      job,
      delivery: { deliveryId, endpoint, type, jobSequence: sequence, round: 1 },
      attempt: 1,
      cause: { correlationId, causationId: id, traceparent },
    }));
}
