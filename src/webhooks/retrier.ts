import { foldDeliveries } from "../domain/webhooks/delivery.ts";
import type { EventLog } from "../event-log/event-log.ts";
import { keepPolling } from "../process/poll-loop.ts";
import type { Semaphore } from "../process/semaphore.ts";
import { type DueDeliveries, type DueDelivery, readDeliveries } from "./deliveries.ts";
import type { DeliveryAttempt, Sender } from "./sender.ts";
import { createTenantShares } from "./tenant-shares.ts";

type Report = (failure: unknown) => void;

const pollEveryMs = 1000;
/** An attempt takes at most ten seconds; recording it takes next to no time while the log is available. */
const leaseMs = 30_000;
/** `turnMs`: an attempt whose turn comes later than that would outlast the lease, and another process would make it too. */
const usualLimits = { shareOfTenant: 32, slowMs: 10_000, turnMs: 18_000 };

/**
 * Makes the later attempts. The table says when to look at a delivery; the log says whether an attempt is due. So a table
 * that lags behind, or was just rebuilt, causes no attempt of a delivery that was settled before. A delivery for which
 * there is no room, because the receivers of its tenant are slow, is let go of, and is due again after the lease.
 */
export function createRetrier(
  log: EventLog,
  due: DueDeliveries,
  sender: Sender,
  semaphore: Semaphore,
  report: Report,
  { shareOfTenant, slowMs, turnMs } = usualLimits,
) {
  const shares = createTenantShares(shareOfTenant, slowMs);
  const retry = (delivery: DueDelivery): Promise<void> =>
    shares.run(delivery.tenant, async (patienceMs) => {
      if (patienceMs === 0) return;
      try {
        const attempt = await nextAttempt(log, delivery);
        if (attempt !== null) await sender.send(attempt, semaphore.givenUp, Math.min(patienceMs, turnMs));
      } catch (failure) {
        report(failure);
      }
    });

  const poll = async () => {
    const limit = semaphore.free();
    if (limit === 0) return "done";
    const deliveries = await due.take(limit, leaseMs);
    for (const delivery of deliveries) await semaphore.take(() => retry(delivery));
    return deliveries.length === limit ? "more" : "done";
  };

  return (): Promise<void> => keepPolling({ poll, everyMs: pollEveryMs, report }, semaphore.stopping);
}

/** Null if the log says that nothing is due. */
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
