import type { Msg } from "nats";

/** Where a delivered message stands, read from the subject that acknowledges it. */
export type DeliveryPlace = {
  /** How often it was delivered, this time included. */
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
export function placeOf(message: Msg): DeliveryPlace {
  const tokens = (message.reply ?? "").split(".");
  const first = tokens.length >= 11 ? 6 : 4;
  const numberAt = (offset: number): number => Number(tokens[first + offset]);
  return {
    deliveries: numberAt(0),
    streamSequence: numberAt(1),
    consumerSequence: numberAt(2),
    pending: numberAt(4),
  };
}

/** A message of the server about a pull (nothing there, time is up, consumer gone) has a status and no place. */
export const isStatus = (message: Msg): boolean => message.data.length === 0 && (message.headers?.code ?? 0) > 0;
