import { setTimeout as pause } from "node:timers/promises";
import type { Msg } from "nats";
import type { JetStreamConnection } from "../nats/connection.ts";
import { canReadAgain, createReader, deleteReader, nextMessages } from "../nats/consumers.ts";
import { deliveryOf, type StoredMessage, storedMessageOf } from "../nats/message.ts";
import { untilInterrupted } from "../nats/patience.ts";
import { openPull, PullEnded, type PullOptions } from "../nats/pull.ts";
import { inBatches } from "./batches.ts";
import { type FollowOptions, type LogEvent, usualRestMs } from "./event-log.ts";
import type { UndecodableEvent } from "./log-failures.ts";

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
 * the last message yielded, so every message comes once and in order whatever happens to server and connection.
 */
export async function* followLog(
  connection: JetStreamConnection,
  stream: string,
  { afterSequence, maxEvents, signal, wantsFacts, restMs = () => usualRestMs }: FollowOptions,
  decode: Decode,
): AsyncGenerator<readonly LogEvent[]> {
  let last = afterSequence;
  let retryAfterMs = firstRetryAfterMs;
  while (!signal.aborted) {
    try {
      for await (const messages of readFrom(connection, stream, last, { batch: maxEvents, restMs }, signal)) {
        const { events, failure } = await decode(messages.map(storedMessageOf), wantsFacts?.());
        yield* inBatches(events, maxEvents);
        if (failure !== null) throw failure;
        last = deliveryOf(messages.at(-1) as Msg).streamSequence;
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

async function* readFrom(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
  options: PullOptions,
  signal: AbortSignal,
): AsyncGenerator<readonly Msg[]> {
  const consumer = await untilInterrupted(createReader(connection, stream, afterSequence), signal);
  const pull = openPull(connection, nextMessages(stream, consumer.name), options);
  signal.addEventListener("abort", pull.close, { once: true });
  let delivered = 0;
  try {
    while (!signal.aborted) {
      const messages = await pull.next();
      delivered += messages.length;
      if (deliveryOf(messages.at(-1) as Msg).consumerSequence !== delivered)
        throw new PullEnded("messages were skipped");
      yield messages;
    }
  } finally {
    signal.removeEventListener("abort", pull.close);
    pull.close();
    await deleteReader(connection, stream, consumer);
  }
}
