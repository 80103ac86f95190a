import { Type } from "typebox";
import type { ThrottledReceiver } from "../../domain/throttles/throttle.ts";
import { type AnswerOf, count, instant, named, ordinal, orNull, text } from "./parts.ts";

const reason = named("ThrottleReason", { replyCode: orNull(count), statusCode: orNull(text), message: text });

export const throttle = named("Throttle", {
  route: text,
  receiver: Type.String({ description: "A domain, or the first domain of a provider that has several." }),
  perMinute: Type.Number({ minimum: 0, description: "Mails per minute, of all workers together." }),
  connections: ordinal,
  since: instant,
  refusedAt: instant,
  pausedUntil: orNull(instant),
  reason,
});

export const throttleList = named("ThrottleList", {
  total: count,
  data: Type.Array(throttle),
  nextCursor: Type.Null(),
});

export const toThrottleAnswer = (
  { route, receiver, throttle: slowed }: ThrottledReceiver,
  atMs: number,
): AnswerOf<typeof throttle> => ({
  route,
  receiver,
  perMinute: Math.round(slowed.perSecond * 600) / 10,
  connections: Math.max(1, Math.floor(slowed.window)),
  since: instantOf(slowed.since),
  refusedAt: instantOf(slowed.refusedAt),
  pausedUntil: slowed.pausedUntil > atMs ? instantOf(slowed.pausedUntil) : null,
  reason: slowed.reason,
});

const instantOf = (ms: number): string => new Date(ms).toISOString();
