import type { Quota } from "../../access/quota.ts";
import type { ContentStore } from "../../content/content-store.ts";
import { Unavailable } from "../../domain/unavailable.ts";
import type { EventLog } from "../../event-log/event-log.ts";
import type { LogRoom } from "../../event-log/log-room.ts";
import type { SuppressionList } from "../../suppressions/suppression-list.ts";
import type { WebhookStore } from "../../webhooks/webhook-store.ts";

/** A request is answered within two seconds, whatever NATS does: so much of it is for all that is asked of NATS together. */
const patienceMs = 1500;
/** What takes long to send over a slow line may take long: attachments, beyond the megabyte of a content. */
const usualBytes = 1_000_000;
const bytesPerMs = 1000;

/** The end of a request's patience with NATS, which is handed to everything that it asks for. */
export type Deadline = {
  /** Throws Unavailable once it is over, and asks for nothing any more; what was asked before may still happen. */
  bound<Answer>(ask: () => Promise<Answer>): Promise<Answer>;
};

/** It begins with the first question: what a frozen database took before is not for NATS to make up. */
export function createDeadline(bodyBytes: number): Deadline {
  const forMs = patienceMs + Math.max(0, bodyBytes - usualBytes) / bytesPerMs;
  let endsAt: number | null = null;
  return {
    bound: async (ask) => {
      endsAt ??= performance.now() + forMs;
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) throw tooLate();
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(tooLate()), leftMs);
      });
      try {
        return await Promise.race([ask(), over]);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

const tooLate = (): Unavailable => new Unavailable("NATS did not answer within the time of the request.");

/** What routes ask of NATS. */
export type BoundPorts = {
  readonly log?: EventLog;
  readonly contentStore?: ContentStore;
  readonly room?: LogRoom;
  readonly quota?: Quota;
  readonly suppressions?: SuppressionList;
  readonly webhooks?: { readonly store: WebhookStore };
};

/** The same ports, each of whose answers comes before the deadline or not at all. */
export function boundBy<Given extends BoundPorts>(deadline: Deadline, ports: Given): Given {
  const { log, contentStore, room, quota, suppressions, webhooks } = ports;
  const bound: BoundPorts = {
    // To listen and to follow is not to ask: both go on for as long as somebody listens.
    ...(log && { log: { ...each(deadline, log), onDecision: log.onDecision, follow: log.follow } }),
    ...(contentStore && { contentStore: boundContents(deadline, contentStore) }),
    ...(room && { room: each(deadline, room) }),
    ...(quota && { quota: each(deadline, quota) }),
    ...(suppressions && { suppressions: each(deadline, suppressions) }),
    ...(webhooks && { webhooks: { ...webhooks, store: each(deadline, webhooks.store) } }),
  };
  return { ...ports, ...bound };
}

const boundContents = (deadline: Deadline, store: ContentStore): ContentStore => ({
  ...each(deadline, store),
  attachments: each(deadline, store.attachments),
});

type Ask = (...given: readonly unknown[]) => Promise<unknown>;

/** A port of which every function asks for something. */
const each = <Port extends object>(deadline: Deadline, port: Port): Port =>
  Object.fromEntries(
    Object.entries(port).map(([name, member]) => [
      name,
      typeof member === "function"
        ? (...given: readonly unknown[]) => deadline.bound(() => (member as Ask)(...given))
        : member,
    ]),
  ) as Port;
