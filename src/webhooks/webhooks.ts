import type { DecisionFeed } from "../event-log/decision-feed.ts";
import type { EventLog } from "../event-log/event-log.ts";
import { type Breakers, createBreakers } from "../signed-post/breakers.ts";
import type { DueDeliveries } from "./deliveries.ts";
import { createPublisher } from "./publisher.ts";
import { createRetrier } from "./retrier.ts";
import { createFairSemaphore, createSemaphore } from "./semaphore.ts";
import { createSender, type SenderDependencies } from "./sender.ts";

export type Webhooks = {
  start(): void;
  /** Waits for the calls in progress; what is left after `graceMs` is sent again by the next process. */
  stop(graceMs: number): Promise<void>;
};

export type WebhooksDependencies = Omit<SenderDependencies, "breakers" | "semaphore"> & {
  readonly log: EventLog;
  readonly feed: DecisionFeed;
  readonly due: DueDeliveries;
  /** By default breakers with the usual waits. */
  readonly breakers?: Breakers;
};

type Report = (failure: unknown) => void;

/** Messages sent at a time, for all tenants together and for one. */
const atOnce = 64;
const atOnceOfTenant = 16;
/** Decisions, and deliveries to retry, that are worked on at a time: most decisions need no message. */
const decisionsInHand = 256;
const retriesInHand = 64;

/**
 * Notifies receivers that jobs have ended: at least once, in no particular order. The first attempt needs only NATS;
 * later attempts wait in a table, and so need the database as well.
 */
export function createWebhooks(dependencies: WebhooksDependencies, report: Report): Webhooks {
  const { log, feed, due, receivers } = dependencies;
  const sender = createSender({
    breakers: createBreakers(),
    ...dependencies,
    semaphore: createFairSemaphore(atOnce, atOnceOfTenant),
  });
  const publishing = createSemaphore(decisionsInHand);
  const retrying = createSemaphore(retriesInHand);
  const publish = createPublisher(log, feed, receivers, sender, publishing, report);
  const retry = createRetrier(log, due, sender, retrying, report);
  let loops: Promise<unknown> | null = null;
  return {
    start: () => {
      loops ??= Promise.all([publish(), retry()]);
    },
    stop: async (graceMs) => {
      await Promise.all([publishing.stop(graceMs), retrying.stop(graceMs)]);
      await loops;
    },
  };
}
