import type { Msg } from "nats";
import { type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { sawStored } from "../nats/horizon.ts";
import { placeOf } from "../nats/message.ts";
import { decodeMessage } from "./decode-envelope.ts";
import type { Delivery } from "./delivery.ts";
import { type StoredEvent, UndecodableEvent, type WaybillEvent } from "./event-log.ts";
import { streamName } from "./subjects.ts";

/** Tells an operator about what was passed over. */
export type Notice = (message: string) => void;

/** While releases are exchanged one after the other, what an old process cannot read is a newer one's to take. */
const forOthersAfterMs = 5000;

/**
 * What a durable consumer was handed, where it is an event of this release; else null comes back. What a newer release
 * has written is handed back for a process of that release. With what nobody can read nothing can be done: it is
 * acknowledged, and stays in the log.
 */
export function readDelivery<Event extends WaybillEvent>(
  connection: JetStreamConnection,
  prefix: string,
  message: Msg,
  notice: Notice,
): Delivery<Event> | null {
  const { streamSequence } = placeOf(message);
  // What is decided about it rests on a log that reaches it: a turn is not over because a replica has not heard of it.
  sawStored(connection, streamName(prefix, "JOBS"), streamSequence);
  try {
    const entry = decodeMessage(prefix, message.subject, streamSequence, message.data);
    // Which events there are is said by the channel that the consumer reads.
    if ("event" in entry) return toDelivery(connection, message, entry as StoredEvent<Event>);
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

function toDelivery<Event extends WaybillEvent>(
  connection: JetStreamConnection,
  message: Msg,
  entry: StoredEvent<Event>,
): Delivery<Event> {
  let isSettled = false;
  const say = (word: string): void => {
    // One that is lost is harmless: the server then hands the message out again, as after any crash.
    if (!isSettled && message.reply) connection.say(message.reply, word);
  };
  const settle = (word: string): void => {
    say(word);
    isSettled = true;
  };
  return {
    entry,
    times: placeOf(message).deliveries,
    acknowledge: () => settle("+ACK"),
    keep: () => say("+WPI"),
    giveBack: (delayMs) => settle(handBack(delayMs)),
  };
}

const handBack = (delayMs: number): string => `-NAK ${JSON.stringify({ delay: nanosOf(delayMs) })}`;
