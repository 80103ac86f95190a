import type { EventLog } from "../event-log/event-log.ts";
import { createListening, type ListenerPorts } from "../event-log/following/listener.ts";
import { createFairSemaphore, createSemaphore } from "../process/semaphore.ts";
import { type Breakers, createBreakers } from "../signed-post/breakers.ts";
import type { DueDeliveries } from "./deliveries.ts";
import { createPublisher } from "./publisher.ts";
import { createRetrier } from "./retrier.ts";
import { createSender, type SenderDependencies } from "./sender.ts";

export type Webhooks = {
  start(): void;
  /** Waits for the calls in progress; what is left after `graceMs` is sent again by the next process. */
  stop(graceMs: number): Promise<void>;
};

export type WebhooksDependencies = Omit<SenderDependencies, "breakers" | "semaphore"> & {
  /** To read from, and the same log to follow with the others of this process. */
  readonly log: EventLog;
  readonly followed: EventLog;
  readonly checkpoints: ListenerPorts["checkpoints"];
  readonly due: DueDeliveries;
  /** By default breakers with the usual waits. */
  readonly breakers?: Breakers;
};

type Report = (failure: unknown) => void;

/** Messages sent at a time, for all tenants together and for one. */
const atOnce = 64;
const atOnceOfTenant = 16;
/** Deliveries to retry that are worked on at a time. */
const retriesInHand = 64;

/**
 * Notifies receivers that jobs and mailings have ended: at least once, in no particular order. The first attempt needs only NATS, and
 * one process makes it; later attempts wait in a table, and so need the database as well, and all processes share them.
 */
export function createWebhooks(dependencies: WebhooksDependencies, report: Report): Webhooks {
  const { log, followed, checkpoints, due, receivers } = dependencies;
  const sender = createSender({
    breakers: createBreakers(),
    ...dependencies,
    semaphore: createFairSemaphore(atOnce, atOnceOfTenant),
  });
  const publishing = createListening({ log: followed, checkpoints, report }, createPublisher(log, receivers, sender));
  const retrying = createSemaphore(retriesInHand);
  const retry = createRetrier(log, due, sender, retrying, report);
  let loop: Promise<void> | null = null;
  return {
    start: () => {
      publishing.start();
      loop ??= retry();
    },
    stop: async (graceMs) => {
      await Promise.all([publishing.stop(graceMs), retrying.stop(graceMs)]);
      await loop;
    },
  };
}
