import type { ThrottleEvent } from "../../domain/throttles/events.ts";
import type { Throttle } from "../../domain/throttles/throttle.ts";
import { type EventLog, throttlesRef } from "../../event-log/event-log.ts";
import { persistently } from "../../event-log/persistently.ts";

/** Tells the log of receivers that are slowed down for long, and when that is over. */
export type ThrottleRecords = {
  /** What is to be stored in place of `after`, and the event that is to be recorded then; null for none. */
  plan(route: string, receiver: string, before: Throttle | null, after: Throttle | null): Planned;
  record(event: ThrottleEvent, id: string): Promise<void>;
};

export type Planned = { readonly after: Throttle | null; readonly event: ThrottleEvent | null; readonly id: string };

type Recording = {
  readonly log: Pick<EventLog, "record">;
  /** The name of the process. */
  readonly actor: string;
  /** Ends the wait for a log that is away. */
  readonly stopping: AbortSignal;
  readonly now?: () => number;
};

/** Most receivers that ask for patience are mailed as before within seconds: the log is not told of them. */
const recordAfterMs = 60_000;
/** Where a provider of a million domains is slow, the log is told of some, and all are shown. */
const mostPerHour = 60;
const hourMs = 3_600_000;

export function recordThrottles({ log, actor, stopping, now = Date.now }: Recording): ThrottleRecords {
  let recorded: number[] = [];
  const mayRecord = (at: number): boolean => {
    recorded = recorded.filter((earlier) => Math.abs(at - earlier) < hourMs);
    return recorded.length < mostPerHour;
  };
  return {
    plan: (route, receiver, before, after) => {
      const at = now();
      const id = (type: string, since: number): string => `throttles/${route}/${receiver}/${since}/${type}`;
      if (after === null) {
        if (before === null || before.recordedAt === null) return { after, event: null, id: "" };
        const throttledForSeconds = Math.max(0, Math.round((at - before.since) / 1000));
        const data = { route, receiver, throttledForSeconds };
        const event = { type: "ReceiverReleased", at: new Date(at).toISOString(), data } as const;
        return { after, event, id: id(event.type, before.since) };
      }
      const hasLasted = at - after.since >= recordAfterMs && at - after.refusedAt < recordAfterMs;
      if (after.recordedAt !== null || !hasLasted || !mayRecord(at)) return { after, event: null, id: "" };
      recorded.push(at);
      const data = { route, receiver, ...figuresOf(after) };
      const event = { type: "ReceiverThrottled", at: new Date(at).toISOString(), data } as const;
      return { after: { ...after, recordedAt: at }, event, id: id(event.type, after.since) };
    },
    record: async (event, id) => {
      const cause = { actor, correlationId: null, causationId: null, traceparent: null };
      await persistently(stopping, () => log.record(throttlesRef, [{ ...cause, id, event }]));
    },
  };
}

const figuresOf = ({ perSecond, window, reason }: Throttle) => ({
  perMinute: Math.round(perSecond * 600) / 10,
  connections: Math.max(1, Math.floor(window)),
  reason,
});
