import { LogUnavailable } from "../event-log/event-log.ts";
import { askJetStream } from "../event-log/jetstream-api.ts";
import { asking, type JetStreamConnection } from "../event-log/jetstream-connection.ts";
import { nextMessages } from "../event-log/jetstream-durable.ts";
import { createReader, deleteReader, isPassing } from "../event-log/jetstream-follow.ts";
import { placeOf } from "../event-log/jetstream-message.ts";
import { openPull } from "../event-log/jetstream-pull.ts";
import { streamFilter, streamName } from "../event-log/subjects.ts";
import { digestPattern } from "./address-digest.ts";
import type { SuppressionEntries } from "./suppressed-digests.ts";

type StreamInfo = { readonly created: string; readonly state: { readonly last_seq: number } };

const readAtOnce = 2000;

/** The stream SUPPRESSIONS as whoever only wants to know the digests reads it: the subject of an entry says them. */
export function createJetStreamSuppressionEntries(connection: JetStreamConnection, prefix: string): SuppressionEntries {
  const stream = streamName(prefix, "SUPPRESSIONS");
  const { nats } = connection;
  return {
    state: async () => {
      const { created, state } = await asking(connection, () =>
        askJetStream<StreamInfo>(connection, `$JS.API.STREAM.INFO.${stream}`, ""),
      );
      return { createdAt: created, lastSequence: state.last_seq };
    },
    readAfter: (sequence, tell) => readSubjects(connection, stream, sequence, tellDigest(tell)),
    onEntry: (tell) => {
      const hear = tellDigest(tell);
      const subscription = nats.subscribe(streamFilter(prefix, "SUPPRESSIONS"), {
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

async function readSubjects(
  connection: JetStreamConnection,
  stream: string,
  afterSequence: number,
  tell: (subject: string) => void,
): Promise<void> {
  const reader = await createReader(connection, stream, afterSequence);
  const pull = openPull(connection, nextMessages(stream, reader.name), readAtOnce);
  try {
    for (let read = 0; read < reader.pending; ) {
      const messages = await pull.next();
      for (const { subject } of messages) tell(subject);
      read += messages.length;
      const last = messages.at(-1);
      if (last === undefined || placeOf(last).consumerSequence !== read) {
        throw new LogUnavailable("NATS left out some of the suppressions.");
      }
    }
  } catch (failure) {
    if (!isPassing(failure)) throw failure;
    throw new LogUnavailable("The suppressions could not be read to their end.", { cause: failure });
  } finally {
    pull.close();
    await deleteReader(connection, stream, reader);
  }
}
