import { setTimeout as pause } from "node:timers/promises";
import type { Msg } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import type { LogMessage } from "../event-log/log-message.ts";
import { asking, isClustered, type JetStreamConnection } from "../nats/connection.ts";
import { canReadAgain, readPending } from "../nats/consumers.ts";
import { askJetStream, messageAt } from "../nats/jetstream-api.ts";
import { deliveryOf, type StoredMessage, storedMessageOf } from "../nats/message.ts";
import { type Pull, PullEnded } from "../nats/pull.ts";

const batch = 2000;
const retryAfterMs = 500;
const maxFailures = 10;
/** A server that counted a message and does not deliver it within this time may have found its bytes corrupt. */
const patienceMs = 3000;

/** The consumer is alive and has messages pending, but delivers none. */
class Stalled extends Error {
  override readonly name = "Stalled";
}

/** The messages of `readDelivered` as they are sealed. */
export async function* readStored(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
): AsyncGenerator<readonly LogMessage[]> {
  for await (const messages of readDelivered(connection, stream, afterSequence)) {
    yield messages.map((message) => toLogMessage(storedMessageOf(message)));
  }
}

/**
 * Every message after a sequence up to the end of the log. Reads as many messages as the
 * server counts when the consumer is created, so that it ends without guessing. In a cluster the server that counts may
 * lag behind: then reading goes on until it reaches the end that the leader's log had at the start. A message whose bytes
 * are corrupt on disk is counted and never delivered: it is skipped, as if it were not there.
 */
export async function* readDelivered(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
): AsyncGenerator<readonly Msg[]> {
  let last = afterSequence;
  let failures = 0;
  let reach: number | null = null;
  for (;;) {
    try {
      if (reach === null) {
        const end = await lastSequenceOf(connection, stream);
        // A log that has not grown, which is looked at every other second, costs no consumer.
        if (end <= afterSequence) return;
        // A single server has no replica that could lag behind.
        reach = isClustered(connection) ? end : 0;
      }
      for await (const messages of readPending(connection, stream, last, { batch, next: nextOf })) {
        failures = 0;
        yield messages;
        last = deliveryOf(messages.at(-1) as Msg).streamSequence;
      }
      if (last >= reach) return;
      throw new PullEnded("a replica has not yet all of the log");
    } catch (failure) {
      if (failure instanceof Stalled) {
        last = await stepOver(connection, stream, last);
        if (last >= (await lastSequenceOf(connection, stream))) return;
        continue;
      }
      failures += 1;
      if (!canReadAgain(failure)) throw failure;
      if (failures === maxFailures) throw new Unavailable("The log could not be read on.", { cause: failure });
      await pause(retryAfterMs);
    }
  }
}

export const toLogMessage = ({ sequence, storedAt, subject, data: body }: StoredMessage): LogMessage => ({
  sequence,
  storedAt,
  subject,
  body,
});

/** The sequence to go on after: past the next message if it cannot be read, else unchanged. */
const stepOver = async (connection: JetStreamConnection, stream: string, last: number): Promise<number> =>
  (await asking(connection, () => messageAt(connection, stream, last + 1))) === null ? last + 1 : last;

const lastSequenceOf = async (connection: JetStreamConnection, stream: string): Promise<number> => {
  const { state } = await asking(connection, () =>
    askJetStream<{ state: { last_seq: number } }>(connection, `$JS.API.STREAM.INFO.${stream}`, ""),
  );
  return state.last_seq;
};

async function nextOf(pull: Pull): Promise<readonly Msg[]> {
  const over = new AbortController();
  const coming = pull.next();
  // It may fail after the race below is over.
  coming.catch(() => {});
  const late = pause(patienceMs, undefined, { signal: over.signal }).then(() => {
    throw new Stalled(`Nothing came within ${patienceMs} ms.`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([coming, late]);
  } finally {
    over.abort();
  }
}
