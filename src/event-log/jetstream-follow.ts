import { setTimeout as pause } from "node:timers/promises";
import type { Msg } from "nats";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { canReadAgain, createReader, deleteReader, nextMessages } from "../nats/consumers.ts";
import { messageAt } from "../nats/jetstream-api.ts";
import { deliveryOf, type StoredMessage, storedAtOf, storedMessageOf } from "../nats/message.ts";
import { untilInterrupted } from "../nats/patience.ts";
import { openPull, PullEnded, type PullOptions } from "../nats/pull.ts";
import { inBatches } from "./batches.ts";
import { type FollowOptions, type LogEvent, usualRestMs } from "./event-log.ts";
import { LogLostItsEnd, type UndecodableEvent } from "./log-failures.ts";

const firstRetryAfterMs = 250;
/** A log that has a leader again is followed again within this time. */
const longestRetryAfterMs = 750;

/** Decodes messages into their events, in order; stops before the first message that cannot be decoded and that no operator has passed by. */
export type Decode = (
  messages: readonly StoredMessage[],
  wantsFacts?: boolean,
) => Promise<{
  readonly events: readonly LogEvent[];
  readonly failure: UndecodableEvent | null;
}>;

/**
 * Reads the stream in order with consumers that live as long as they are read, without a filter: with a wildcard over
 * many subjects some servers are 60 times slower. A consumer that dies or skips is replaced by one that begins after
 * the last message yielded, so every message comes once and in order whatever happens to server and connection. The new
 * consumer brings that last message, too: where another one stands in its place, throws LogLostItsEnd.
 */
export async function* followLog(
  connection: JetStreamConnection,
  stream: string,
  { afterSequence, maxEvents, signal, wantsFacts, restMs = () => usualRestMs }: FollowOptions,
  decode: Decode,
): AsyncGenerator<readonly LogEvent[]> {
  let last: Last = { sequence: afterSequence, storedAt: null };
  let retryAfterMs = firstRetryAfterMs;
  while (!signal.aborted) {
    try {
      for await (const messages of readFrom(connection, stream, last, { batch: maxEvents, restMs }, signal)) {
        const { events, failure } = await decode(messages.map(storedMessageOf), wantsFacts?.());
        yield* inBatches(events, maxEvents);
        if (failure !== null) throw failure;
        last = lastOf(messages);
        retryAfterMs = firstRetryAfterMs;
      }
    } catch (failure) {
      if (signal.aborted) return;
      if (!canReadAgain(failure)) throw failure;
      await pause(retryAfterMs, undefined, { signal }).catch(() => {});
      retryAfterMs = Math.min(2 * retryAfterMs, longestRetryAfterMs);
    }
  }
}

/** What was read last. Null where it is known from a checkpoint alone. */
type Last = { readonly sequence: number; readonly storedAt: string | null };

function lastOf(messages: readonly Msg[]): Last {
  const message = messages.at(-1) as Msg;
  return { sequence: deliveryOf(message).streamSequence, storedAt: storedAtOf(message) };
}

async function* readFrom(
  connection: JetStreamConnection,
  stream: string,
  last: Last,
  options: PullOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Msg[]> {
  const after = last.storedAt === null ? last.sequence : last.sequence - 1;
  const consumer = await untilInterrupted(createReader(connection, stream, after), signal);
  const pull = openPull(connection, nextMessages(stream, consumer.name), options);
  signal.addEventListener("abort", pull.close, { once: true });
  let delivered = 0;
  try {
    while (!signal.aborted) {
      const messages = await pull.next();
      delivered += messages.length;
      if (deliveryOf(messages.at(-1) as Msg).consumerSequence !== delivered)
        throw new PullEnded("messages were skipped");
      const news = await newsIn(connection, stream, last, messages);
      if (news.length > 0) yield news;
    }
  } finally {
    signal.removeEventListener("abort", pull.close);
    pull.close();
    await deleteReader(connection, stream, consumer);
  }
}

/**
 * Without what was read before. Where a server does not have the message that a consumer is to begin with, the consumer
 * begins with the next one that is stored: that may be one that was read, from a replica that lags behind, or a new one.
 */
async function newsIn(
  connection: JetStreamConnection,
  stream: string,
  last: Last,
  messages: readonly Msg[],
): Promise<readonly Msg[]> {
  const first = messages.findIndex((message) => deliveryOf(message).streamSequence > last.sequence);
  if (first === 0) return messages;
  const known = first === -1 ? messages : messages.slice(0, first);
  const { sequence, storedAt } = last;
  if (storedAt !== null) {
    const other = known.find((message) => isAfter(message, last.sequence, storedAt));
    if (other !== undefined) {
      const upTo = await lastStoredBy(connection, stream, deliveryOf(other).streamSequence, BigInt(storedAt));
      throw new LogLostItsEnd(sequence, upTo);
    }
  }
  return messages.slice(known.length);
}

/** Whether a message that stands no later in the log than the last one read was stored after it. */
const isAfter = (message: Msg, last: number, storedAt: string): boolean =>
  deliveryOf(message).streamSequence === last
    ? storedAtOf(message) !== storedAt
    : BigInt(storedAtOf(message)) > BigInt(storedAt);

/** The last sequence up to `last` that was stored no later than at an instant. What was cut off counts as such. */
async function lastStoredBy(
  connection: JetStreamConnection,
  stream: string,
  last: number,
  instant: bigint,
): Promise<number> {
  let [low, high] = [0, last];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const message = await asking(connection, () => messageAt(connection, stream, middle));
    if (message === null || BigInt(message.storedAt) <= instant) low = middle;
    else high = middle - 1;
  }
  return low;
}
