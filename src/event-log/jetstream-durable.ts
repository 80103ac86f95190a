import type { Msg } from "nats";
import { type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { sawStored } from "../nats/horizon.ts";
import { placeOf } from "../nats/message.ts";
import { decodeMessage } from "./decode-entry.ts";
import type { Delivery, Handover } from "./delivery.ts";
import { type StoredEvent, UndecodableEvent, type WaybillEvent } from "./event-log.ts";
import { channelOf, parseSubject, streamName } from "./subjects.ts";

/** Reports to an operator that a message was skipped. */
export type Notice = (message: string) => void;

/**
 * How long an old process leaves a message that it cannot read to a process of a newer release, during a rolling
 * upgrade.
 */
const forOthersAfterMs = 5000;

/**
 * Turns a message of a durable consumer into a delivery; null if it is not an event of this release. An event of a
 * newer release is returned to the server for a process of that release. A message that no release can read is
 * acknowledged, and stays in the log.
 */
export function readDelivery<Event extends WaybillEvent>(
  connection: JetStreamConnection,
  prefix: string,
  message: Msg,
  notice: Notice,
): Delivery<Event> | null {
  const { streamSequence } = placeOf(message);
  // Decisions about this event need a log that includes it: a turn is not over because a replica lags behind.
  sawStored(connection, streamName(prefix, "JOBS"), streamSequence);
  try {
    const { channel } = parseSubject(prefix, message.subject);
    const entry = decodeMessage(prefix, message.subject, streamSequence, message.data);
    const event = entry.find((event) => "event" in event && channelOf(event.event) === channel);
    // The channel that the consumer reads determines the types of events; facts beside a decision are of another one.
    if (event !== undefined) return { ...handoverOf(connection, message), entry: event as StoredEvent<Event> };
  } catch (failure) {
    notice(String(failure));
    if (failure instanceof UndecodableEvent && failure.isNewer) {
      message.respond(handBack(forOthersAfterMs));
      return null;
    }
  }
  message.respond("+ACK");
  return null;
}

/** What the consumer of a message may say to the server about it; the first word that settles it counts. */
export function handoverOf(connection: JetStreamConnection, message: Msg): Handover {
  let isSettled = false;
  const say = (word: string): void => {
    // A lost acknowledgement is harmless: the server then redelivers the message, as after any crash.
    if (!isSettled && message.reply) connection.say(message.reply, word);
  };
  const settle = (word: string): void => {
    say(word);
    isSettled = true;
  };
  return {
    times: placeOf(message).deliveries,
    acknowledge: () => settle("+ACK"),
    keep: () => say("+WPI"),
    giveBack: (delayMs) => settle(handBack(delayMs)),
  };
}

const handBack = (delayMs: number): string => `-NAK ${JSON.stringify({ delay: nanosOf(delayMs) })}`;
