import type { Msg } from "nats";
import { logRef, UndecodableEvent } from "../event-log/event-log.ts";
import { lastMessageOf } from "../event-log/jetstream-api.ts";
import { asking, type JetStreamConnection } from "../event-log/jetstream-connection.ts";
import { placeOf, storedAtOf } from "../event-log/jetstream-message.ts";
import type { LogMessage } from "../event-log/log-message.ts";
import { streamName, subjectOf } from "../event-log/subjects.ts";
import { messageAt, readStored } from "./jetstream-stored-messages.ts";
import { isSealSubject, readSeal } from "./read-seal.ts";
import type { StoredSeal } from "./seal.ts";
import type { SealedLog } from "./sealed-log.ts";

/** `stream` is another one than the log's own for who looks at a copy of it. */
export async function createJetStreamSealedLog(
  connection: JetStreamConnection,
  prefix: string,
  stream = streamName(prefix, "JOBS"),
): Promise<SealedLog> {
  const subject = subjectOf(prefix, logRef, "seal");
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: 1500 });

  const toSeal = (sequence: number, body: Uint8Array): StoredSeal => {
    const seal = readSeal({ sequence, body });
    if (seal === null) throw new UndecodableEvent(sequence, "it stands where seals do, and is none");
    return seal;
  };

  return {
    state: () =>
      asking(connection, async () => {
        const { created, state } = await manager.streams.info(stream);
        return { createdAt: created, lastSequence: state.last_seq };
      }),
    lastSeal: async () => {
      const last = await asking(connection, () => lastMessageOf(connection, stream, subject));
      return last === null ? null : toSeal(last.sequence, last.data);
    },
    sealAt: async (sequence) => {
      const found = await asking(connection, () => messageAt(connection, stream, sequence));
      return found === null || !isSealSubject(found.subject) ? null : readSeal({ sequence, body: found.body });
    },
    messages: async function* (afterSequence, which) {
      const only = which === "seals" ? subject : null;
      for await (const messages of readStored(connection, stream, afterSequence, only))
        yield messages.map(toLogMessage);
    },
  };
}

const toLogMessage = (message: Msg): LogMessage => ({
  sequence: placeOf(message).streamSequence,
  storedAt: storedAtOf(message),
  subject: message.subject,
  body: message.data,
});
