import type { JobRef } from "../event-log/event-log.ts";
import { LogFull } from "../event-log/log-failures.ts";
import { contentSubjectOf, streamName } from "../event-log/subjects.ts";
import { asking, type JetStreamConnection, payloadLimit } from "../nats/connection.ts";
import { createDataReader } from "../nats/data-reader.ts";
import { lastMessageOf, removeMessage, type StreamMessage, storeIfLast } from "../nats/jetstream-api.ts";
import type { ContentStore } from "./content-store.ts";
import { createJetStreamAttachmentStore } from "./jetstream-attachment-store.ts";

/** The overhead of a message besides the content: subject and headers. */
const overheadBytes = 1024;

/**
 * One message for each job in the stream CONTENT, two while one replaces the other. `ensureStreams` has created or
 * checked the stream.
 */
export async function createJetStreamContentStore(
  connection: JetStreamConnection,
  prefix: string,
  replicas = 1,
): Promise<ContentStore> {
  const stream = streamName(prefix, "CONTENT");
  const maxPayload = payloadLimit(connection);
  const readData = createDataReader(connection, stream);
  const last = (job: JobRef) =>
    asking(connection, () => lastMessageOf(connection, stream, contentSubjectOf(prefix, job)));
  /** Overwrites it with random bytes and unlinks it. */
  const overwrite = (sequence: number) => asking(connection, () => removeMessage(connection, stream, sequence));

  /** False if the last content of the job is not the one that this one replaces; null means none. */
  const publish = (job: JobRef, content: Uint8Array, replaces: number | null): Promise<boolean> =>
    storeIfLast(connection, contentSubjectOf(prefix, job), content, replaces ?? 0, noRoom, {
      "Content-Type": "application/json",
      ...(replaces === null ? {} : { [replacesHeader]: String(replaces) }),
    });

  return {
    attachments: createJetStreamAttachmentStore(connection, { prefix, replicas }),
    get maxBytes() {
      return maxPayload() - overheadBytes;
    },
    put: (job, content) => publish(job, content, null),
    get: (job) => asking(connection, () => readData(contentSubjectOf(prefix, job))),
    rewrite: async (job, change) => {
      for (;;) {
        const stored = await last(job);
        if (stored === null) return;
        // The process that wrote it may have crashed before it removed the content before it.
        const replaced = replacedBy(stored);
        if (replaced !== null) await overwrite(replaced);
        const content = change(stored.data);
        if (Buffer.compare(stored.data, content) === 0) return;
        await publish(job, content, stored.sequence);
      }
    },
    erase: async (job) => {
      for (let stored = await last(job); stored !== null; stored = await last(job)) {
        // First the one that it replaces: once the last of two is gone, NATS 2.9 answers that the subject has none.
        const replaced = replacedBy(stored);
        if (replaced !== null) await overwrite(replaced);
        await overwrite(stored.sequence);
      }
    },
  };
}

const noRoom = (cause: unknown): Error => new LogFull("There is no room for the content.", { cause });

/** Identifies the message that this one replaces, until that one is overwritten. */
const replacesHeader = "Waybill-Replaces";

function replacedBy({ headers: lines }: StreamMessage): number | null {
  const [, sequence] = new RegExp(`^${replacesHeader}: *(\\d+)\r?$`, "m").exec(lines) ?? [];
  return sequence === undefined ? null : Number(sequence);
}
