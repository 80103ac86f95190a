import { headers } from "nats";
import { type JobRef, LogFull } from "../event-log/event-log.ts";
import { contentSubjectOf, streamName } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isOutOfRoom, isWrongSequence } from "../nats/errors.ts";
import { askJetStream, lastMessageOf, removeMessage, type StreamMessage } from "../nats/jetstream-api.ts";
import type { ContentStore } from "./content-store.ts";
import { createJetStreamAttachmentStore } from "./jetstream-attachment-store.ts";

/** What a message carries besides the content: subject and headers. */
const overheadBytes = 1024;

/** One message a job in the stream CONTENT, two while one replaces the other, which `ensureStreams` has made or checked. */
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
  const last = (job: JobRef) =>
    asking(connection, () => lastMessageOf(connection, stream, contentSubjectOf(prefix, job)));
  /** With chance, and not only unlinked. */
  const overwrite = (sequence: number) => asking(connection, () => removeMessage(connection, stream, sequence));

  /** False where the last content of the job is not the one that this one is to replace; null is none. */
  const publish = (job: JobRef, content: Uint8Array, replaces: number | null): Promise<boolean> =>
    asking(connection, async () => {
      const messageHeaders = headers();
      messageHeaders.append("Content-Type", "application/json");
      messageHeaders.append("Nats-Expected-Last-Subject-Sequence", String(replaces ?? 0));
      if (replaces !== null) messageHeaders.append(replacesHeader, String(replaces));
      try {
        await askJetStream(connection, contentSubjectOf(prefix, job), content, messageHeaders);
        return true;
      } catch (failure) {
        if (isWrongSequence(failure)) return false;
        if (isOutOfRoom(failure)) throw new LogFull("There is no room for the content.", { cause: failure });
        throw failure;
      }
    });

  return {
    attachments: createJetStreamAttachmentStore(connection, { prefix, replicas }),
    get maxBytes() {
      return maxPayload - overheadBytes;
    },
    put: (job, content) => publish(job, content, null),
    get: async (job) => (await last(job))?.data ?? null,
    rewrite: async (job, change) => {
      for (;;) {
        const stored = await last(job);
        if (stored === null) return;
        // Whoever wrote it may have died before the one before was gone.
        const replaced = replacedBy(stored);
        if (replaced !== null) await overwrite(replaced);
        const content = change(stored.data);
        if (Buffer.compare(stored.data, content) === 0) return;
        await publish(job, content, stored.sequence);
      }
    },
    erase: async (job) => {
      for (let stored = await last(job); stored !== null; stored = await last(job)) await overwrite(stored.sequence);
    },
  };
}

/** Names the message that this one stands for, until that one is overwritten. */
const replacesHeader = "Waybill-Replaces";

function replacedBy({ headers: lines }: StreamMessage): number | null {
  const [, sequence] = new RegExp(`^${replacesHeader}: *(\\d+)\r?$`, "m").exec(lines) ?? [];
  return sequence === undefined ? null : Number(sequence);
}
