import type { Msg } from "nats";

/** The position of a delivered message, read from its acknowledgement subject. */
export type DeliveryInfo = {
  /** The number of deliveries, this one included. */
  readonly deliveries: number;
  readonly streamSequence: number;
  /** Counts the deliveries of the consumer without a gap. */
  readonly consumerSequence: number;
  /** Messages that the consumer has not delivered yet. */
  readonly pending: number;
};

/**
 * `$JS.ACK.<stream>.<consumer>.<deliveries>.<sequence>.<consumer sequence>.<time>.<pending>`, and in the newer form a
 * domain and an account before the stream.
 */
export function deliveryOf(message: Msg): DeliveryInfo {
  const reply = message.reply ?? "";
  const isNewerForm = startOfToken(reply, 10) > 0;
  const deliveries = startOfToken(reply, isNewerForm ? 6 : 4);
  const streamSequence = reply.indexOf(".", deliveries) + 1;
  const consumerSequence = reply.indexOf(".", streamSequence) + 1;
  const time = reply.indexOf(".", consumerSequence) + 1;
  return {
    deliveries: numberAt(reply, deliveries),
    streamSequence: numberAt(reply, streamSequence),
    consumerSequence: numberAt(reply, consumerSequence),
    pending: numberAt(reply, reply.indexOf(".", time) + 1),
  };
}

/** A message as a stream holds it. */
export type StoredMessage = {
  readonly sequence: number;
  /** When NATS stored it: nanoseconds since 1970, as digits, because a number is not precise enough. */
  readonly storedAt: string;
  readonly subject: string;
  readonly data: Uint8Array;
};

/** A delivered message as one that was asked for. */
export const storedMessageOf = (message: Msg): StoredMessage => ({
  sequence: deliveryOf(message).streamSequence,
  subject: message.subject,
  data: message.data,
  get storedAt() {
    return storedAtOf(message);
  },
});

/** When a delivered message was stored: nanoseconds since 1970, as digits, because a number is not precise enough. */
export function storedAtOf(message: Msg): string {
  const reply = message.reply ?? "";
  const isNewerForm = startOfToken(reply, 10) > 0;
  return /^\d+/.exec(reply.slice(startOfToken(reply, isNewerForm ? 9 : 7)))?.[0] ?? "0";
}

/** Counts from 0; -1 if there are fewer. Works in place: splitting a subject costs as much as parsing an event. */
function startOfToken(subject: string, index: number): number {
  let start = 0;
  for (let token = 0; token < index; token += 1) {
    const dot = subject.indexOf(".", start);
    if (dot < 0) return -1;
    start = dot + 1;
  }
  return start;
}

const zero = 48;

function numberAt(text: string, start: number): number {
  let value = 0;
  for (let at = start; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - zero;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * A status message of the server about a pull (nothing there, time is up, consumer gone) has a status and no position.
 */
export const isStatus = (message: Msg): boolean =>
  // Checked first, because each access to the data creates a view of it.
  !message.reply && message.data.length === 0 && (message.headers?.code ?? 0) > 0;
