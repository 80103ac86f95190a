import type { Msg } from "nats";
import { logRef, UndecodableEvent } from "../event-log/event-log.ts";
import { createReading } from "../event-log/jetstream-passes.ts";
import { type LogMessage, leafHashOf } from "../event-log/log-message.ts";
import { streamName, subjectOf } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { lastMessageOf } from "../nats/jetstream-api.ts";
import { placeOf, storedAtOf } from "../nats/message.ts";
import { readSubject } from "../nats/read-subject.ts";
import { messageAt, readStored } from "./jetstream-stored-messages.ts";
import { isSealSubject, readSeal, type StoredSeal } from "./seal.ts";
import type { SealedLog } from "./sealed-log.ts";

/** `stream` differs from the log's own when a copy of the log is examined. */
export async function createJetStreamSealedLog(
  connection: JetStreamConnection,
  prefix: string,
  stream = streamName(prefix, "JOBS"),
): Promise<SealedLog> {
  const subject = subjectOf(prefix, logRef, "seal");
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: 1500 });

  const { readPasses } = createReading(connection, prefix, stream);
  const isPassed = async (message: LogMessage): Promise<boolean> => {
    const sha256 = leafHashOf(message).toString("hex");
    return (await readPasses()).some(
      ({ event: { data } }) => data.sequence === message.sequence && data.sha256 === sha256,
    );
  };

  /** The last seal before a passed message, if that message is the last one on the subject of seals. */
  const lastSealBefore = async (reach: number): Promise<StoredSeal | null> => {
    const messages = await readSubject(connection, stream, subject, reach);
    for (const message of messages.toReversed().map(toLogMessage)) {
      const seal = readSeal(message);
      if (seal !== null) return seal;
      if (await isPassed(message)) continue;
      throw new UndecodableEvent(message.sequence, "it stands where seals do, and is none");
    }
    return null;
  };

  return {
    state: () =>
      asking(connection, async () => {
        const { created, state } = await manager.streams.info(stream);
        return { createdAt: created, lastSequence: state.last_seq };
      }),
    lastSeal: async () => {
      const last = await asking(connection, () => lastMessageOf(connection, stream, subject));
      if (last === null) return null;
      const { sequence, data: body } = last;
      return readSeal({ sequence, body }) ?? (await lastSealBefore(sequence));
    },
    sealAt: async (sequence) => {
      const found = await asking(connection, () => messageAt(connection, stream, sequence));
      return found === null || !isSealSubject(found.subject) ? null : readSeal({ sequence, body: found.body });
    },
    isPassed,
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
