import { headers, type NatsConnection } from "nats";
import { encodeEntry, entryContentType } from "../../src/event-log/encode-entry.ts";
import type { JobRef, NewEntry } from "../../src/event-log/event-log.ts";
import { channelOfEntry, streamName, subjectOf } from "../../src/event-log/subjects.ts";
import { eventually } from "../support/eventually.ts";

/** Only the last message of so many is acknowledged: a stream stores the messages of a connection in their order. */
const messagesPerAck = 500;
const acksInFlight = 4;
const ackTimeoutMs = 60_000;

/** Writes messages as the service stores them, with many on their way and without the guards of its appends. */
export type LogWriter = {
  write(job: JobRef, history: Iterable<NewEntry>): Promise<void>;
  /** Waits until everything is stored, of a log that was empty; answers how much that is. */
  finish(): Promise<{ readonly messages: number; readonly events: number }>;
};

export function createLogWriter(nats: NatsConnection, prefix: string): LogWriter {
  const jetstream = nats.jetstream({ timeout: ackTimeoutMs });
  const acks: Promise<unknown>[] = [];
  let messages = 0;
  let events = 0;
  const publish = (job: JobRef, entry: NewEntry, isAcknowledged: boolean): void => {
    const subject = subjectOf(prefix, job, channelOfEntry(entry));
    const data = encodeEntry(job, entry);
    const about = headers();
    about.append("Content-Type", entryContentType);
    about.append("Nats-Msg-Id", entry[0].id);
    if (!isAcknowledged) {
      nats.publish(subject, data, { headers: about });
      return;
    }
    const ack = jetstream.publish(subject, data, { headers: about, timeout: ackTimeoutMs });
    // The failure reaches the caller of write or finish.
    ack.catch(() => {});
    acks.push(ack);
  };
  return {
    write: async (job, history) => {
      for (const entry of history) {
        messages += 1;
        events += entry.length;
        publish(job, entry, messages % messagesPerAck === 0);
        if (acks.length > acksInFlight) await acks.shift();
      }
    },
    finish: async () => {
      await Promise.all(acks);
      const manager = await nats.jetstreamManager({ checkAPI: false, timeout: ackTimeoutMs });
      await eventually(async () => {
        const { state } = await manager.streams.info(streamName(prefix, "JOBS"));
        if (state.messages < messages) throw new Error(`${state.messages} of ${messages} messages are stored`);
      });
      return { messages, events };
    },
  };
}
