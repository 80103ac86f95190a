import { foldDeliveries } from "../domain/webhooks/delivery.ts";
import type { EventLog } from "../event-log/event-log.ts";
import { keepPolling } from "../poll-loop.ts";
import { type DueDeliveries, type DueDelivery, readDeliveries } from "./deliveries.ts";
import type { Semaphore } from "./semaphore.ts";
import type { DeliveryAttempt, Sender } from "./sender.ts";

type Report = (failure: unknown) => void;

const pollEveryMs = 1000;
/** An attempt takes ten seconds at most, and recording it no time worth speaking of while the log is there. */
const leaseMs = 30_000;

/**
 * Makes the later attempts. The table says when to look at a delivery, and the log what is to be done: a table that is
 * behind, or was just rebuilt, has nothing sent that was settled before.
 */
export function createRetrier(log: EventLog, due: DueDeliveries, courier: Sender, hands: Semaphore, report: Report) {
  const retry = async (delivery: DueDelivery): Promise<void> => {
    try {
      const errand = await nextAttempt(log, delivery);
      if (errand !== null) await courier.send(errand, hands.givenUp);
    } catch (failure) {
      report(failure);
    }
  };

  const poll = async () => {
    const limit = hands.free();
    if (limit === 0) return "done";
    const deliveries = await due.take(limit, leaseMs);
    for (const delivery of deliveries) await hands.take(() => retry(delivery));
    return deliveries.length === limit ? "more" : "done";
  };

  return (): Promise<void> => keepPolling({ poll, everyMs: pollEveryMs, report }, hands.stopping);
}

/** Null where the log says that nothing is due. */
async function nextAttempt(log: EventLog, { tenant, jobId, deliveryId }: DueDelivery): Promise<DeliveryAttempt | null> {
  const job = { tenant, jobId };
  const notices = await readDeliveries(log, job);
  const state = foldDeliveries(notices.map(({ event }) => event)).get(deliveryId);
  const last = notices.findLast(({ event }) => event.data.deliveryId === deliveryId);
  if (state === undefined || last === undefined || state.nextAttemptAt === null) return null;
  if (Date.parse(state.nextAttemptAt) > Date.now()) return null;
  const { endpoint, type, jobSequence, round } = state;
  return {
    job,
    delivery: { deliveryId, endpoint, type, jobSequence, round },
    attempt: state.attempt + 1,
    cause: { correlationId: last.correlationId, causationId: last.id, traceparent: last.traceparent },
  };
}
