import { headers } from "nats";
import { LogFull } from "../event-log/event-log.ts";
import { asking, type JetStreamConnection } from "../event-log/jetstream-connection.ts";
import { isMessageMissing, isOutOfRoom, isWrongSequence } from "../event-log/jetstream-errors.ts";
import { contentSubjectOf, streamName } from "../event-log/subjects.ts";
import type { ContentStore } from "./content-store.ts";

const timeoutMs = 1500;

/** What a message carries besides the content: subject and headers. */
const overheadBytes = 1024;

/** One message a job in the stream CONTENT, which `ensureStreams` has made or checked. */
export async function createJetStreamContentStore(
  connection: JetStreamConnection,
  prefix: string,
): Promise<ContentStore> {
  const { nats } = connection;
  const stream = streamName(prefix, "CONTENT");
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: timeoutMs });
  const client = manager.jetstream();
  // Between two connections the client does not know it; what was told last still says what to expect.
  let maxPayload = nats.info?.max_payload ?? 0;
  connection.onReconnect(() => {
    maxPayload = nats.info?.max_payload ?? maxPayload;
  });
  return {
    get maxBytes() {
      return maxPayload - overheadBytes;
    },
    put: (job, content) =>
      asking(connection, async () => {
        const messageHeaders = headers();
        messageHeaders.set("Content-Type", "application/json");
        try {
          await client.publish(contentSubjectOf(prefix, job), content, {
            headers: messageHeaders,
            timeout: timeoutMs,
            expect: { lastSubjectSequence: 0 },
          });
          return true;
        } catch (failure) {
          if (isWrongSequence(failure)) return false;
          if (isOutOfRoom(failure)) throw new LogFull("There is no room for the content.", { cause: failure });
          throw failure;
        }
      }),
    get: (job) =>
      asking(connection, async () => {
        try {
          return (await manager.streams.getMessage(stream, { last_by_subj: contentSubjectOf(prefix, job) })).data;
        } catch (failure) {
          if (isMessageMissing(failure)) return null;
          throw failure;
        }
      }),
  };
}
