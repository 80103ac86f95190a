import { AckPolicy, type ConsumerConfig, DeliverPolicy, type JetStreamManager, type Msg, ReplayPolicy } from "nats";
import { asking, type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { isConsumerMissing } from "../nats/errors.ts";
import { placeOf } from "../nats/message.ts";
import { decodeMessage } from "./decode-envelope.ts";
import type { Delivery } from "./delivery.ts";
import { type StoredEvent, UndecodableEvent, type WaybillEvent } from "./event-log.ts";
import { sawStored } from "./jetstream-horizon.ts";
import { streamName } from "./subjects.ts";

export type DurableConsumer = {
  readonly stream: string;
  readonly name: string;
  readonly filterSubject: string;
  /** How long a delivery may go without a sign before it is handed to somebody else. */
  readonly ackWaitMs: number;
  /** Deliver subjects and headers without the data. */
  readonly headersOnly?: true;
};

/** Creates the durable consumer, or makes an older one fit; twice is as good as once, also from several processes. */
export async function ensureDurable(connection: JetStreamConnection, consumer: DurableConsumer): Promise<void> {
  const config: Partial<ConsumerConfig> = {
    durable_name: consumer.name,
    filter_subject: consumer.filterSubject,
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    replay_policy: ReplayPolicy.Instant,
    ack_wait: nanosOf(consumer.ackWaitMs),
    max_deliver: -1,
    // Every worker holds as many as it has free slots, so this is a limit for a whole fleet.
    max_ack_pending: 20_000,
    ...(consumer.headersOnly ? { headers_only: true } : {}),
  };
  const manager = await asking(connection, () => connection.nats.jetstreamManager({ checkAPI: false }));
  const found = await asking(connection, () => findConsumer(manager, consumer));
  if (found === null) await asking(connection, () => manager.consumers.add(consumer.stream, config));
  else if (found.ack_wait !== config.ack_wait || found.max_ack_pending !== config.max_ack_pending) {
    await asking(connection, () => manager.consumers.update(consumer.stream, consumer.name, { ...found, ...config }));
  }
}

async function findConsumer(manager: JetStreamManager, consumer: DurableConsumer): Promise<ConsumerConfig | null> {
  try {
    return (await manager.consumers.info(consumer.stream, consumer.name)).config;
  } catch (failure) {
    if (isConsumerMissing(failure)) return null;
    throw failure;
  }
}

/** The subject that asks a consumer for its next messages. */
export const nextMessages = (stream: string, consumer: string): string =>
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;

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
