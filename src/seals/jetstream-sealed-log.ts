import { logRef } from "../event-log/event-log.ts";
import { createReading } from "../event-log/jetstream-passes.ts";
import { UndecodableEvent } from "../event-log/log-failures.ts";
import { type LogMessage, leafHashOf } from "../event-log/log-message.ts";
import { streamName, subjectOf } from "../event-log/subjects.ts";
import { asking, isClustered, type JetStreamConnection } from "../nats/connection.ts";
import { seenUpTo } from "../nats/horizon.ts";
import { lastMessageOf, messageAt, nextMessageOf, type StreamMessage } from "../nats/jetstream-api.ts";
import { isPassingOutage } from "../nats/outages.ts";
import { createPatience, never } from "../nats/patience.ts";
import { readBack } from "../nats/read-subject.ts";
import { readStored, toLogMessage } from "./jetstream-stored-messages.ts";
import { isSealSubject, readSeal, type StoredSeal } from "./seal.ts";
import type { SealedLog } from "./sealed-log.ts";

const sealsAtOnce = 100;

/** A lost connection does not end a long reading. */
const patiently = createPatience({
  forMs: 5000,
  signal: never,
  isPassing: isPassingOutage,
  waits: () => {},
  sayAfterMs: 60_000,
});

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

  /** Seals, and what stands where they do, newest first. */
  const lastSealOf = async (messages: readonly StreamMessage[]): Promise<StoredSeal | null> => {
    for (const message of messages.toReversed().map(toLogMessage)) {
      const seal = readSeal(message);
      if (seal !== null) return seal;
      if (await isPassed(message)) continue;
      throw new UndecodableEvent(message.sequence, "it stands where seals do, and is none");
    }
    return null;
  };
  const sealsAfter = async function* (afterSequence: number): AsyncGenerator<readonly LogMessage[]> {
    const next = (from: number) =>
      patiently(() => asking(connection, () => nextMessageOf(connection, stream, subject, from)));
    let batch: LogMessage[] = [];
    for (let seal = await next(afterSequence + 1); seal !== null; seal = await next(seal.sequence + 1)) {
      batch.push(toLogMessage(seal));
      if (batch.length < sealsAtOnce) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  };

  const at = async (sequence: number): Promise<LogMessage | null> => {
    const found = await asking(connection, () => messageAt(connection, stream, sequence));
    return found === null ? null : toLogMessage(found);
  };

  return {
    state: () =>
      asking(connection, async () => {
        const { created, state } = await manager.streams.info(stream);
        // A new leader answers before it has applied its end. A single server knows it, also where it has lost some.
        const lastSeen = isClustered(connection) ? seenUpTo(connection, stream) : 0;
        return { createdAt: created, lastSequence: Math.max(state.last_seq, lastSeen) };
      }),
    lastSeal: async () => {
      const last = await asking(connection, () => lastMessageOf(connection, stream, subject));
      if (last === null) return null;
      return await lastSealOf(
        await readBack(connection, stream, last, (message) => readSeal(toLogMessage(message)) !== null),
      );
    },
    messageAt: at,
    sealAt: async (sequence) => {
      const found = await at(sequence);
      return found === null || !isSealSubject(found.subject) ? null : readSeal(found);
    },
    hasCopies: () => isClustered(connection),
    isPassed,
    messages: (afterSequence, which) =>
      which === "seals" ? sealsAfter(afterSequence) : readStored(connection, stream, afterSequence),
  };
}
