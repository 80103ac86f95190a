import type { JetStreamManager, Msg } from "nats";
import type { JobEvent } from "../domain/job/events.ts";
import type { RecipientEvent } from "../domain/recipients/events.ts";
import { decodeMessage } from "./envelope.ts";
import type { Channel, EventLog, JobRef, LogEntry, StoredEvent } from "./event-log.ts";
import { asking, type JetStreamConnection } from "./jetstream-connection.ts";
import { isMessageMissing } from "./jetstream-errors.ts";
import { followLog } from "./jetstream-follow.ts";
import { placeOf } from "./jetstream-message.ts";
import { createPublisher, type OnStored } from "./jetstream-publish.ts";
import { readSubject } from "./jetstream-reader.ts";
import { streamName, subjectOf } from "./subjects.ts";

const askTimeoutMs = 1500;

const allChannels: readonly Channel[] = ["job", "queue.high", "queue.normal", "queue.low", "recipients"];

/** The log on a JetStream stream that `ensureStreams` has made or checked. */
export async function createJetStreamEventLog(
  connection: JetStreamConnection,
  prefix: string,
  onStored: OnStored = () => {},
): Promise<EventLog> {
  const stream = streamName(prefix, "JOBS");
  const manager = await connection.nats.jetstreamManager({ checkAPI: false, timeout: askTimeoutMs });
  const publisher = createPublisher(connection, manager.jetstream(), prefix, onStored);

  const decode = (message: Msg): LogEntry =>
    decodeMessage(prefix, message.subject, placeOf(message).streamSequence, message.data);

  const read = async (job: JobRef, channel: Channel): Promise<StoredEvent[]> => {
    const messages = await readSubject(connection, stream, subjectOf(prefix, job, channel));
    return messages.map(decode).filter((entry): entry is StoredEvent => "event" in entry);
  };

  return {
    append: publisher.append,
    record: publisher.record,
    readDecisions: async (job) => (await read(job, "job")) as StoredEvent<JobEvent>[],
    readRecipients: async (job) => (await read(job, "recipients")) as StoredEvent<RecipientEvent>[],
    // Five exact subjects and a sort: a wildcard over them makes the server of 2.9 scan the whole log.
    readHistory: async (job) => {
      const channels = await Promise.all(allChannels.map((channel) => read(job, channel)));
      return channels.flat().sort((one, other) => one.sequence - other.sequence);
    },
    lastDecision: (job) => asking(connection, () => lastSequence(manager, stream, subjectOf(prefix, job, "job"))),
    onDecision: (job, decided) => {
      const subscription = connection.nats.subscribe(subjectOf(prefix, job, "job"), { callback: decided });
      return () => {
        if (!connection.nats.isClosed()) subscription.unsubscribe();
      };
    },
    state: () =>
      asking(connection, async () => {
        const { created, state } = await manager.streams.info(stream);
        return { createdAt: created, lastSequence: state.last_seq };
      }),
    follow: (options) => followLog(connection, stream, options, decode),
  };
}

/** From the leader: a direct get may be answered by a replica with the past. */
async function lastSequence(manager: JetStreamManager, stream: string, subject: string): Promise<number> {
  try {
    return (await manager.streams.getMessage(stream, { last_by_subj: subject })).seq;
  } catch (failure) {
    if (isMessageMissing(failure)) return 0;
    throw failure;
  }
}
