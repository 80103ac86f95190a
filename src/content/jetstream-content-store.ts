import { headers } from "nats";
import { LogFull } from "../event-log/event-log.ts";
import { askJetStream, lastMessageOf } from "../event-log/jetstream-api.ts";
import { asking, type JetStreamConnection } from "../event-log/jetstream-connection.ts";
import { isOutOfRoom, isWrongSequence } from "../event-log/jetstream-errors.ts";
import { contentSubjectOf, streamName } from "../event-log/subjects.ts";
import type { ContentStore } from "./content-store.ts";
import { createJetStreamAttachmentStore } from "./jetstream-attachment-store.ts";

/** What a message carries besides the content: subject and headers. */
const overheadBytes = 1024;

/** One message a job in the stream CONTENT, which `ensureStreams` has made or checked. */
export async function createJetStreamContentStore(
  connection: JetStreamConnection,
  prefix: string,
  replicas = 1,
): Promise<ContentStore> {
  const { nats } = connection;
  const stream = streamName(prefix, "CONTENT");
  // Between two connections the client does not know it; what was told last still says what to expect.
  let maxPayload = nats.info?.max_payload ?? 0;
  connection.onReconnect(() => {
    maxPayload = nats.info?.max_payload ?? maxPayload;
  });
  return {
    attachments: createJetStreamAttachmentStore(connection, { prefix, replicas }),
    get maxBytes() {
      return maxPayload - overheadBytes;
    },
    put: (job, content) =>
      asking(connection, async () => {
        const messageHeaders = headers();
        messageHeaders.append("Content-Type", "application/json");
        messageHeaders.append("Nats-Expected-Last-Subject-Sequence", "0");
        try {
          await askJetStream(connection, contentSubjectOf(prefix, job), content, messageHeaders);
          return true;
        } catch (failure) {
          if (isWrongSequence(failure)) return false;
          if (isOutOfRoom(failure)) throw new LogFull("There is no room for the content.", { cause: failure });
          throw failure;
        }
      }),
    get: async (job) =>
      (await asking(connection, () => lastMessageOf(connection, stream, contentSubjectOf(prefix, job))))?.data ?? null,
  };
}
