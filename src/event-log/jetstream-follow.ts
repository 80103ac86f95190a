import { setTimeout as pause } from "node:timers/promises";
import type { Msg } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { asking, isUnanswered, type JetStreamConnection, nanosOf } from "../nats/connection.ts";
import { isJetStreamError } from "../nats/errors.ts";
import { placeOf } from "../nats/message.ts";
import { openPull, type Pull, PullEnded } from "../nats/pull.ts";
import type { FollowOptions, LogEntry, UndecodableEvent } from "./event-log.ts";
import { expectCount } from "./jetstream-counts.ts";
import { nextMessages } from "./jetstream-durable.ts";

const retryAfterMs = 500;

/** Stops before the first message that nobody can decode and nobody has passed by. */
export type Decode = (messages: readonly Msg[]) => Promise<{
  readonly entries: readonly LogEntry[];
  readonly failure: UndecodableEvent | null;
}>;

/**
 * Reads the stream in order with consumers that live as long as they are read, without a filter: with a wildcard over
 * many subjects some servers are 60 times slower. A consumer that dies or skips is replaced by one that begins after
 * the last message handed out, so every message comes once and in order whatever happens to server and connection.
 */
export async function* followLog(
  connection: JetStreamConnection,
  stream: string,
  { afterSequence, maxEvents, signal }: FollowOptions,
  decode: Decode,
): AsyncGenerator<readonly LogEntry[]> {
  let last = afterSequence;
  while (!signal.aborted) {
    try {
      for await (const messages of readFrom(connection, stream, last, maxEvents, signal)) {
        const { entries, failure } = await decode(messages);
        if (entries.length > 0) yield entries;
        if (failure !== null) throw failure;
        last = placeOf(messages.at(-1) as Msg).streamSequence;
      }
    } catch (failure) {
      if (signal.aborted) return;
      if (!isPassing(failure)) throw failure;
      await pause(retryAfterMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** What goes by itself: the server or the connection is away, or the consumer went with them. */
export const isPassing = (failure: unknown): boolean =>
  failure instanceof PullEnded || failure instanceof Unavailable || isUnanswered(failure) || isJetStreamError(failure);

async function* readFrom(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
  batch: number,
  signal: AbortSignal,
): AsyncGenerator<readonly Msg[]> {
  const consumer = await createReader(connection, stream, afterSequence);
  const pull = openPull(connection, nextMessages(stream, consumer.name), batch);
  signal.addEventListener("abort", pull.close, { once: true });
  let delivered = 0;
  try {
    while (!signal.aborted) {
      const messages = await pull.next();
      delivered += messages.length;
      if (placeOf(messages.at(-1) as Msg).consumerSequence !== delivered) throw new PullEnded("messages were skipped");
      yield messages;
    }
  } finally {
    signal.removeEventListener("abort", pull.close);
    pull.close();
    await deleteReader(connection, stream, consumer);
  }
}

export type PendingOptions = {
  readonly batch: number;
  readonly subject?: string | null;
  readonly headersOnly?: boolean;
  readonly next?: (pull: Pull) => Promise<readonly Msg[]>;
};

/** The messages that stand in the stream after a sequence now, in batches that are never empty. Throws what `isPassing` knows. */
export async function* readPending(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
  { batch, subject = null, headersOnly = false, next = (pull) => pull.next() }: PendingOptions,
): AsyncGenerator<readonly Msg[]> {
  const reader = await createReader(connection, stream, afterSequence, subject, headersOnly);
  const pull = openPull(connection, nextMessages(stream, reader.name), batch);
  let delivered = 0;
  try {
    while (delivered < reader.pending) {
      const messages = await next(pull);
      delivered += messages.length;
      if (placeOf(messages.at(-1) as Msg).consumerSequence !== delivered) throw new PullEnded("messages were skipped");
      yield messages;
    }
  } finally {
    pull.close();
    await deleteReader(connection, stream, reader);
  }
}

/** `pending` messages stood there when it was made. */
type Reader = { readonly name: string; readonly pending: number };

/** With a filter only for an exact subject, for which no server looks through the others. */
async function createReader(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
  subject: string | null = null,
  headersOnly = false,
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
  const answer = await asking(connection, () =>
    connection.nats.request(`$JS.API.CONSUMER.CREATE.${stream}`, JSON.stringify(request), { timeout: 2000 }),
  );
  const created = answer.json<{ name?: string; num_pending?: number; error?: { description: string } }>();
  if (created.name === undefined) {
    throw new Unavailable(`NATS refused to read the log: ${created.error?.description ?? "no reason given"}`);
  }
  return { name: created.name, pending: expectCount(created.num_pending) };
}

/** Politeness: the server drops an idle reader by itself a minute later. */
async function deleteReader(connection: JetStreamConnection, stream: string, { name }: Reader): Promise<void> {
  if (!connection.isUp()) return;
  await connection.nats.request(`$JS.API.CONSUMER.DELETE.${stream}.${name}`, "", { timeout: 500 }).catch(() => {});
}
