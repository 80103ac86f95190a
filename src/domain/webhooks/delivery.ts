import type { JobError } from "../job/events.ts";
import type { Instant } from "../message.ts";
import type { WebhookDelivery, WebhookEvent } from "./events.ts";

export type DeliveryStatus = "waiting" | "delivered" | "failed";

/** The state of the delivery of one message. */
export type DeliveryState = WebhookDelivery & {
  readonly status: DeliveryStatus;
  /** The number of attempts made in this round. */
  readonly attempt: number;
  /** The status of the last attempt; null before the first of a round. */
  readonly statusCode: number | null;
  readonly error: JobError | null;
  readonly createdAt: Instant;
  readonly lastAttemptAt: Instant | null;
  /** Null unless the delivery waits for another attempt. */
  readonly nextAttemptAt: Instant | null;
};

/**
 * Two instances may have made the same attempt: a success wins, and of two failures the first one counts. Events of
 * another round have no effect.
 */
export function deliveryAfter(before: DeliveryState | undefined, event: WebhookEvent): DeliveryState | undefined {
  const { deliveryId, endpoint, type, jobSequence, round } = event.data;
  const delivery: WebhookDelivery = { deliveryId, endpoint, type, jobSequence, round };
  const createdAt = before?.createdAt ?? event.at;
  switch (event.type) {
    case "WebhookDelivered": {
      if (!isOpen(before, event.data)) return before;
      const { attempt, statusCode } = event.data;
      const outcome = { status: "delivered", attempt, statusCode, error: null } as const;
      return { ...delivery, ...outcome, createdAt, lastAttemptAt: event.at, nextAttemptAt: null };
    }
    case "WebhookFailed": {
      const { attempt, statusCode, error, nextAttemptAt } = event.data;
      if (!isOpen(before, event.data) || attempt <= (before?.attempt ?? 0)) return before;
      const status = nextAttemptAt === null ? "failed" : "waiting";
      return { ...delivery, status, attempt, statusCode, error, createdAt, lastAttemptAt: event.at, nextAttemptAt };
    }
    case "WebhookRedeliveryRequested":
      if (before === undefined || round !== before.round + 1) return before;
      return { ...before, round, status: "waiting", attempt: 0, nextAttemptAt: event.at };
  }
}

const isOpen = (before: DeliveryState | undefined, { round }: WebhookDelivery): boolean =>
  before === undefined ? round === 1 : before.status === "waiting" && before.round === round;

/** The deliveries of one job by id, folded from all their events in the order of the log. */
export function foldDeliveries(events: Iterable<WebhookEvent>): ReadonlyMap<string, DeliveryState> {
  const deliveries = new Map<string, DeliveryState>();
  for (const event of events) {
    const after = deliveryAfter(deliveries.get(event.data.deliveryId), event);
    if (after !== undefined) deliveries.set(event.data.deliveryId, after);
  }
  return deliveries;
}
