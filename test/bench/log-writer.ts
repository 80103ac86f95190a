import { headers, type NatsConnection } from "nats";
import { encodeEntry, entryContentType } from "../../src/event-log/encode-entry.ts";
import type { JobRef, NewEntry } from "../../src/event-log/event-log.ts";
import { channelOfEntry, contentSubjectOf, streamName, subjectOf } from "../../src/event-log/subjects.ts";
import { eventually } from "../support/eventually.ts";

/**
 * Only the last message of so many is acknowledged: a stream stores the messages of a connection in their order. A prime
 * number, so that each message of a history, and its content, has its turn.
 */
const messagesPerAck = 499;
const acksInFlight = 4;
const ackTimeoutMs = 60_000;

/** Writes messages as the service stores them, with many on their way and without the guards of its appends. */
export type LogWriter = {
  write(job: JobRef, history: Iterable<NewEntry>): Promise<void>;
  writeContent(job: JobRef, content: Uint8Array): Promise<void>;
  /** Waits until everything is stored, of a log that was empty; answers how much that is, without contents. */
  finish(): Promise<{ readonly messages: number; readonly events: number }>;
};

export function createLogWriter(nats: NatsConnection, prefix: string): LogWriter {
  const jetstream = nats.jetstream({ timeout: ackTimeoutMs });
  const acks: Promise<unknown>[] = [];
  const count = { messages: 0, contents: 0, events: 0 };
  const publish = async (subject: string, data: Uint8Array, about: Record<string, string>): Promise<void> => {
    const messageHeaders = headers();
    for (const [name, value] of Object.entries(about)) messageHeaders.append(name, value);
    if ((count.messages + count.contents) % messagesPerAck > 0) {
      nats.publish(subject, data, { headers: messageHeaders });
      return;
    }
    const ack = jetstream.publish(subject, data, { headers: messageHeaders, timeout: ackTimeoutMs });
    // The failure reaches the caller of write or finish.
    ack.catch(() => {});
    acks.push(ack);
    if (acks.length > acksInFlight) await acks.shift();
  };
  return {
    write: async (job, history) => {
      for (const entry of history) {
        count.messages += 1;
        count.events += entry.length;
        const about = { "Content-Type": entryContentType, "Nats-Msg-Id": entry[0].id };
        await publish(subjectOf(prefix, job, channelOfEntry(entry)), encodeEntry(job, entry), about);
      }
    },
    writeContent: async (job, content) => {
      count.contents += 1;
      await publish(contentSubjectOf(prefix, job), content, { "Content-Type": "application/json" });
    },
    finish: async () => {
      await Promise.all(acks);
      const manager = await nats.jetstreamManager({ checkAPI: false, timeout: ackTimeoutMs });
      const untilStored = (stream: "JOBS" | "CONTENT", messages: number): Promise<void> =>
        eventually(async () => {
          const { state } = await manager.streams.info(streamName(prefix, stream));
          if (state.messages < messages) throw new Error(`${stream} has ${state.messages} of ${messages} messages`);
        });
      await untilStored("JOBS", count.messages);
      await untilStored("CONTENT", count.contents);
      return { messages: count.messages, events: count.events };
    },
  };
}
