import type { DecisionFeed } from "../event-log/decision-feed.ts";
import type { EventLog } from "../event-log/event-log.ts";
import { createBreakers } from "../signed-post/breakers.ts";
import type { DueDeliveries } from "./deliveries.ts";
import { createPublisher } from "./publisher.ts";
import { createRetrier } from "./retrier.ts";
import { createFairSemaphore, createSemaphore } from "./semaphore.ts";
import { createSender, type SenderDependencies } from "./sender.ts";

export type Webhooks = {
  start(): void;
  /** Waits for what is on its way; after `graceMs` it is left, to be sent again by whoever comes next. */
  stop(graceMs: number): Promise<void>;
};

export type WebhooksDependencies = Omit<SenderDependencies, "breakers" | "slots"> & {
  readonly log: EventLog;
  readonly feed: DecisionFeed;
  readonly due: DueDeliveries;
};

type Report = (failure: unknown) => void;

/** Messages on their way at a time, of all tenants and of one. */
const atOnce = 64;
const atOnceOfTenant = 16;
/** Decisions that are acted upon, and deliveries that are tried again, at a time: most of them take no message. */
const decisionsInHand = 256;
const retriesInHand = 64;

/**
 * Tells receivers that jobs have ended: at least once, in no certain order. The first attempt needs NATS alone; those
 * after it wait in a table, and so for the database as well.
 */
export function createWebhooks(dependencies: WebhooksDependencies, report: Report): Webhooks {
  const { log, feed, due, receivers } = dependencies;
  const courier = createSender({
    ...dependencies,
    breakers: createBreakers(),
    slots: createFairSemaphore(atOnce, atOnceOfTenant),
  });
  const tellers = createSemaphore(decisionsInHand);
  const retriers = createSemaphore(retriesInHand);
  const tell = createPublisher(log, feed, receivers, courier, tellers, report);
  const retry = createRetrier(log, due, courier, retriers, report);
  let loops: Promise<unknown> | null = null;
  return {
    start: () => {
      loops ??= Promise.all([tell(), retry()]);
    },
    stop: async (graceMs) => {
      await Promise.all([tellers.stop(graceMs), retriers.stop(graceMs)]);
      await loops;
    },
  };
}
