import { AckPolicy, type ConsumerConfig, DeliverPolicy, type Msg, ReplayPolicy } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { onAdvisory } from "./advisories.ts";
import { asking, type JetStreamConnection, nanosOf } from "./connection.ts";
import { isConsumerMissing, isJetStreamError } from "./errors.ts";
import { askSlowly, slowAnswerMs } from "./jetstream-api.ts";
import { deliveryOf } from "./message.ts";
import { isUnanswered } from "./outages.ts";
import { openPull, type Pull, PullEnded } from "./pull.ts";

export type DurableConsumer = {
  readonly stream: string;
  readonly name: string;
  /**
   * Null for all messages. To make a consumer with a filter, NATS 2.9 looks at every subject of the stream, and stores
   * nothing in it meanwhile.
   */
  readonly filterSubject: string | null;
  /** How long a delivery may show no progress before the server redelivers it to another process. */
  readonly ackWaitMs: number;
  /**
   * With so many deliveries that are not acknowledged the server makes no other; 200,000 where it does not say. A worker holds
   * as many messages as it has free slots; those that were given back until later count, too.
   */
  readonly mostDelivered?: number;
  /** Deliver subjects and headers without the data. */
  readonly headersOnly?: true;
};

/** Creates the durable consumer, or updates an older one; it may be called again, also by several processes at once. */
export async function ensureDurable(connection: JetStreamConnection, consumer: DurableConsumer): Promise<void> {
  const config: Partial<ConsumerConfig> = {
    durable_name: consumer.name,
    ...(consumer.filterSubject === null ? {} : { filter_subject: consumer.filterSubject }),
    deliver_policy: DeliverPolicy.All,
    ack_policy: AckPolicy.Explicit,
    replay_policy: ReplayPolicy.Instant,
    ack_wait: nanosOf(consumer.ackWaitMs),
    max_deliver: -1,
    max_ack_pending: consumer.mostDelivered ?? 200_000,
    ...(consumer.headersOnly ? { headers_only: true } : {}),
  };
  const manager = await asking(connection, () =>
    connection.nats.jetstreamManager({ checkAPI: false, timeout: slowAnswerMs }),
  );
  const found = await findConsumer(connection, consumer);
  if (found === null) await asking(connection, () => manager.consumers.add(consumer.stream, config));
  else if (found.ack_wait !== config.ack_wait || found.max_ack_pending !== config.max_ack_pending) {
    await asking(connection, () => manager.consumers.update(consumer.stream, consumer.name, { ...found, ...config }));
  }
}

async function findConsumer(
  connection: JetStreamConnection,
  { stream, name }: DurableConsumer,
): Promise<ConsumerConfig | null> {
  try {
    const subject = `$JS.API.CONSUMER.INFO.${stream}.${name}`;
    return (await askSlowly<{ readonly config: ConsumerConfig }>(connection, subject, "")).config;
  } catch (failure) {
    if (isConsumerMissing(failure)) return null;
    throw failure;
  }
}

/** Calls back with the name of a consumer of the stream that a cluster has given a new leader, unless that goes unheard. */
export function onElections(
  connection: JetStreamConnection,
  stream: string,
  elected: (consumer: string) => void,
): () => void {
  const subjects = `CONSUMER.LEADER_ELECTED.${stream}.`;
  return onAdvisory(connection.nats, `${subjects}*`, (what) => elected(what.slice(subjects.length)));
}

/** Calls back when the stream was made, perhaps anew, unless that goes unheard. */
export const onStreamMade = (connection: JetStreamConnection, stream: string, made: () => void): (() => void) =>
  onAdvisory(connection.nats, `STREAM.CREATED.${stream}`, made);

/** The subject that asks a consumer for its next messages. */
export const nextMessages = (stream: string, consumer: string): string =>
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`;

/** A consumer that lives as long as it is read. `pending` is the number of unread messages at its creation. */
export type Reader = { readonly name: string; readonly pending: number };

/** Accepts only an exact subject as a filter: with that no server scans the other messages. */
export async function createReader(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
  subject: string | null = null,
  { headersOnly = false }: { readonly headersOnly?: boolean } = {},
): Promise<Reader> {
  const request = {
    stream_name: stream,
    config: {
      deliver_policy: "by_start_sequence",
      opt_start_seq: afterSequence + 1,
      ...(subject === null ? {} : { filter_subject: subject }),
      ...(headersOnly ? { headers_only: true } : {}),
      ack_policy: "none",
      max_deliver: 1,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanosOf(60_000),
    },
  };
  const subjectOfRequest = `$JS.API.CONSUMER.CREATE.${stream}`;
  const created = await askSlowly<{ readonly name: string; readonly num_pending?: number }>(
    connection,
    subjectOfRequest,
    JSON.stringify(request),
  );
  return { name: created.name, pending: expectCount(created.num_pending) };
}

/** Optional cleanup: the server drops an idle consumer a minute later anyway. */
export async function deleteReader(connection: JetStreamConnection, stream: string, { name }: Reader): Promise<void> {
  if (!connection.isUp()) return;
  await connection.nats.request(`$JS.API.CONSUMER.DELETE.${stream}.${name}`, "", { timeout: 500 }).catch(() => {});
}

/** The failure is temporary: the server or the connection is away, or the consumer was lost with them. */
export const canReadAgain = (failure: unknown): boolean =>
  failure instanceof PullEnded || failure instanceof Unavailable || isUnanswered(failure) || isJetStreamError(failure);

/**
 * A count as NATS reports it; null if it cannot be right. In releases up to 2.9 the number of messages that wait for a
 * consumer can fall below zero and is reported as 18,446,744,073,709,551,615: the real number is unknown then.
 */
export const countOf = (reported: unknown): number | null =>
  typeof reported === "number" && Number.isSafeInteger(reported) && reported >= 0 ? reported : null;

/** For a caller that needs the count: throws Unavailable, because the next count from NATS is mostly right. */
export function expectCount(reported: unknown): number {
  const count = countOf(reported ?? 0);
  if (count === null) throw new Unavailable(`NATS reported ${reported} messages, which is impossible.`);
  return count;
}

export type PendingOptions = {
  readonly batch: number;
  readonly subject?: string | null;
  readonly headersOnly?: boolean;
  /**
   * The last sequence that matters, for a stream that messages are removed from: the server may have counted some that it
   * then does not deliver, those of NATS 2.9 also some that were removed before.
   */
  readonly end?: number;
  readonly next?: (pull: Pull) => Promise<readonly Msg[]>;
};

/**
 * The messages that the stream now holds after a sequence, in batches that are never empty. Throws the failures that
 * `canReadAgain` recognises.
 */
export async function* readPending(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
  { batch, subject = null, headersOnly = false, end, next = (pull) => pull.next() }: PendingOptions,
): AsyncGenerator<readonly Msg[]> {
  const reader = await createReader(connection, stream, afterSequence, subject, { headersOnly });
  const pull = openPull(connection, nextMessages(stream, reader.name), { batch, ...(end !== undefined && { end }) });
  let delivered = 0;
  try {
    while (delivered < reader.pending) {
      const messages = await next(pull);
      if (messages.length === 0) return;
      delivered += messages.length;
      if (deliveryOf(messages.at(-1) as Msg).consumerSequence !== delivered)
        throw new PullEnded("messages were skipped");
      yield messages;
    }
  } finally {
    pull.close();
    await deleteReader(connection, stream, reader);
  }
}
