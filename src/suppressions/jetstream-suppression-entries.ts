import { setTimeout as pause } from "node:timers/promises";
import { Unavailable } from "../domain/unavailable.ts";
import { nextMessages } from "../event-log/jetstream-durable.ts";
import { createReader, deleteReader, isPassing } from "../event-log/jetstream-follow.ts";
import { isClustered } from "../event-log/jetstream-horizon.ts";
import { streamFilter, streamName } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { askJetStream, lastMessageOf } from "../nats/jetstream-api.ts";
import { placeOf } from "../nats/message.ts";
import { openPull } from "../nats/pull.ts";
import { digestPattern } from "./address-digest.ts";
import type { SuppressionEntries } from "./suppressed-digests.ts";

type StreamInfo = { readonly created: string; readonly state: { readonly last_seq: number } };

const readAtOnce = 2000;
/** So long a replica that lags behind, or others in its place, have to come to where the leader is. */
const patienceMs = 1500;
const readAgainAfterMs = 100;

/** The stream SUPPRESSIONS as whoever only wants to know the digests reads it: the subject of an entry says them. */
export function createJetStreamSuppressionEntries(connection: JetStreamConnection, prefix: string): SuppressionEntries {
  const stream = streamName(prefix, "SUPPRESSIONS");
  const all = streamFilter(prefix, "SUPPRESSIONS");
  const { nats } = connection;
  return {
    state: async () => {
      const { created, state } = await asking(connection, () =>
        askJetStream<StreamInfo>(connection, `$JS.API.STREAM.INFO.${stream}`, ""),
      );
      return { createdAt: created, lastSequence: state.last_seq };
    },
    readAfter: async (sequence, tell) => {
      const deadline = performance.now() + patienceMs;
      for (;;) {
        try {
          return await readToTheEnd(connection, stream, all, sequence, tellDigest(tell));
        } catch (failure) {
          const isElsewhere = failure instanceof Unavailable && isClustered(connection);
          if (!isElsewhere || performance.now() >= deadline) throw failure;
          await pause(readAgainAfterMs);
        }
      }
    },
    onEntry: (tell) => {
      const hear = tellDigest(tell);
      const subscription = nats.subscribe(all, {
        callback: (_, { subject }) => hear(subject),
      });
      return () => {
        if (!nats.isClosed()) subscription.unsubscribe();
      };
    },
  };
}

/** It is the last token of an entry's subject; no other message of the stream ends in one. */
const tellDigest =
  (tell: (digest: string) => void) =>
  (subject: string): void => {
    const token = subject.slice(subject.lastIndexOf(".") + 1);
    if (digestPattern.test(token)) tell(token);
  };

/** Whoever is left out would be mailed: what a replica has not yet is Unavailable. */
async function readToTheEnd(
  connection: JetStreamConnection,
  stream: string,
  all: string,
  afterSequence: number,
  tell: (subject: string) => void,
): Promise<void> {
  // Asked each time, as the last entry may be taken off its list meanwhile.
  const last = await asking(connection, () => lastMessageOf(connection, stream, all));
  const reached = await readSubjects(connection, stream, afterSequence, tell);
  if (reached < (last?.sequence ?? 0)) throw new Unavailable("A replica has not yet all of the suppressions.");
}

/** Answers how far it has come: to where the replica ends that it was given, which may lag behind. */
async function readSubjects(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
  tell: (subject: string) => void,
): Promise<number> {
  const reader = await createReader(connection, stream, afterSequence);
  const pull = openPull(connection, nextMessages(stream, reader.name), readAtOnce);
  let reached = afterSequence;
  try {
    for (let read = 0; read < reader.pending; ) {
      const messages = await pull.next();
      for (const { subject } of messages) tell(subject);
      read += messages.length;
      const last = messages.at(-1);
      if (last === undefined || placeOf(last).consumerSequence !== read) {
        throw new Unavailable("NATS left out some of the suppressions.");
      }
      reached = placeOf(last).streamSequence;
    }
    return reached;
  } catch (failure) {
    if (!isPassing(failure)) throw failure;
    throw new Unavailable("The suppressions could not be read to their end.", { cause: failure });
  } finally {
    pull.close();
    await deleteReader(connection, stream, reader);
  }
}
