import type { ContentStore } from "../content/content-store.ts";
import type { WebhookDelivery, WebhookEvent } from "../domain/webhooks/events.ts";
import { webhookDelayMs } from "../domain/webhooks/schedule.ts";
import type { Cause, EventLog, JobRef } from "../event-log/event-log.ts";
import { persistently } from "../event-log/persistently.ts";
import type { Breakers } from "../signed-post/breakers.ts";
import type { SafePost } from "../signed-post/safe-post.ts";
import { deliverUnlessDown, neverAgain, type Verdict } from "../signed-post/signed-post.ts";
import { payloadOf, type ShowJob } from "./message.ts";
import type { Receivers } from "./receivers.ts";
import type { Slots } from "./slots.ts";

/** An attempt to be made, and the event that it follows from. */
export type Errand = {
  readonly job: JobRef;
  readonly delivery: WebhookDelivery;
  readonly attempt: number;
  readonly cause: Omit<Cause, "actor">;
};

export type CourierDependencies = {
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly receivers: Receivers;
  readonly post: SafePost;
  readonly breakers: Breakers;
  readonly slots: Slots;
  readonly show: ShowJob;
};

export type Courier = {
  /**
   * Makes an attempt and records what came of it. A crash between the two leaves nothing recorded: the attempt is made
   * again, with the same id. Once the signal aborts it records nothing any more.
   */
  run(errand: Errand, signal: AbortSignal): Promise<void>;
};

export function createCourier(dependencies: CourierDependencies): Courier {
  const { log, slots } = dependencies;
  return {
    run: async (errand, signal) => {
      const verdict = await slots.run(errand.job.tenant, () => attempt(dependencies, errand, signal));
      if (signal.aborted) return;
      const event = toEvent(errand, verdict, Date.now());
      const { delivery, attempt: number, job, cause } = errand;
      const id = `${delivery.deliveryId}/${delivery.round}/${number}/${event.type}`;
      await persistently(signal, () => log.record(job, { ...cause, id, actor: "webhooks", event }));
    },
  };
}

async function attempt(
  dependencies: CourierDependencies,
  { job, delivery, cause }: Errand,
  signal: AbortSignal,
): Promise<Verdict> {
  const { log, contentStore, receivers, show } = dependencies;
  const receiver = await receivers.find(job, delivery.endpoint);
  if (receiver === null) return neverAgain("receiver-gone", "The endpoint, or the job's webhookUrl, was deleted.");
  const payload = await payloadOf(log, contentStore, job, delivery, show);
  const message = { id: delivery.deliveryId, payload, traceparent: cause.traceparent };
  return await deliverUnlessDown(dependencies, receiver.name, receiver, message, signal);
}

function toEvent({ delivery, attempt }: Errand, verdict: Verdict, nowMs: number): WebhookEvent {
  const at = new Date(nowMs).toISOString();
  const data = { ...delivery, attempt };
  if (verdict.kind === "delivered") {
    return { type: "WebhookDelivered", at, data: { ...data, statusCode: verdict.statusCode } };
  }
  const { statusCode, error, retryAfterMs } = verdict;
  const delayMs = verdict.kind === "again" ? webhookDelayMs(attempt, retryAfterMs, Math.random()) : null;
  const nextAttemptAt = delayMs === null ? null : new Date(nowMs + delayMs).toISOString();
  return { type: "WebhookFailed", at, data: { ...data, statusCode, error, nextAttemptAt } };
}
