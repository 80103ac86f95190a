import type { MsgHdrs } from "nats";
import type { LogArchived } from "../domain/log/events.ts";
import { decodeMessage } from "../event-log/decode-entry.ts";
import { type LogEvent, logRef, type StoredEvent } from "../event-log/event-log.ts";
import { readListeners } from "../event-log/following/jetstream-log-gauge.ts";
import { streamName, subjectOf } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { lastMessageOf } from "../nats/jetstream-api.ts";
import { storedMessageOf } from "../nats/message.ts";
import { readBack } from "../nats/read-subject.ts";
import { readDelivered, toLogMessage } from "../seals/jetstream-stored-messages.ts";
import { cutBeginning, refuseReplicas } from "./jetstream-cut.ts";
import type { Reader, StoredLog } from "./stored-log.ts";

const answerMs = 10_000;

export async function createJetStreamStoredLog(connection: JetStreamConnection, prefix: string): Promise<StoredLog> {
  const stream = streamName(prefix, "JOBS");
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: answerMs });
  refuseReplicas((await asking(connection, () => manager.streams.info(stream))).config);
  return {
    firstSequence: async () => (await asking(connection, () => manager.streams.info(stream))).state.first_seq,
    entries: async function* (afterSequence, upTo) {
      for await (const messages of readDelivered(connection, stream, afterSequence)) {
        const entries = messages.map((message) => ({
          ...toLogMessage(storedMessageOf(message)),
          headers: linesOf(message.headers),
        }));
        const wanted = entries.filter(({ sequence }) => sequence <= upTo);
        if (wanted.length > 0) yield wanted;
        if (wanted.length < entries.length || wanted.at(-1)?.sequence === upTo) return;
      }
    },
    firstDecision: async (job) => {
      for (const channel of ["job", "mailing"] as const) {
        const last = await asking(connection, () => lastMessageOf(connection, stream, subjectOf(prefix, job, channel)));
        // Each names the one before. To look for the first, NATS would look through the log from its beginning on.
        if (last !== null) return (await readBack(connection, stream, last))[0]?.sequence ?? 0;
      }
      return 0;
    },
    recorded: async () => {
      const subject = subjectOf(prefix, logRef, "archive");
      const last = await asking(connection, () => lastMessageOf(connection, stream, subject));
      const messages = last === null ? [] : await readBack(connection, stream, last);
      return messages.flatMap(({ sequence, data }) => decodeMessage(prefix, subject, sequence, data)).filter(isRecord);
    },
    recordedIn: (entries) =>
      entries
        .filter(({ subject }) => subject === subjectOf(prefix, logRef, "archive"))
        .flatMap(({ subject, sequence, body }) => decodeMessage(prefix, subject, sequence, body))
        .filter(isRecord)
        .map(({ event }) => event.data),
    readers: () =>
      asking(connection, async () => {
        const listeners = await readListeners(connection, prefix);
        const readers: Reader[] = listeners.map(({ name, reached }) => ({ name, readUpTo: reached }));
        for await (const { name, config, ack_floor, num_pending, num_ack_pending } of manager.consumers.list(stream)) {
          const isDone = num_pending === 0 && num_ack_pending === 0;
          if (config.durable_name !== undefined && !isDone) readers.push({ name, readUpTo: ack_floor.stream_seq });
        }
        return readers;
      }),
    cut: (steps) => cutBeginning(connection, prefix, steps),
  };
}

const isRecord = (event: LogEvent): event is StoredEvent<LogArchived> =>
  "event" in event && event.event.type === "LogArchived";

/** As they go over the wire, one `Name: value` in a line. */
function linesOf(headers: MsgHdrs | undefined): string {
  let lines = "";
  for (const [name, values] of headers ?? []) for (const value of values) lines += `${name}: ${value}\r\n`;
  return lines;
}
