import type { JobRef } from "../event-log/event-log.ts";
import { LogFull } from "../event-log/log-failures.ts";
import type { BucketSettings } from "../nats/bucket.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { openObjects } from "../nats/object-store.ts";
import type { AttachmentStore } from "./content-store.ts";
import { digestOf } from "./encode-content.ts";

/** One object for each attachment, in the bucket ATTACHMENTS. */
export function createJetStreamAttachmentStore(
  connection: JetStreamConnection,
  settings: BucketSettings,
): AttachmentStore {
  const objects = openObjects(
    connection,
    "ATTACHMENTS",
    settings,
    (cause) => new LogFull("There is no room for the attachment.", { cause }),
  );
  return {
    put: (job, sha256, bytes) => objects.put(nameOf(job, sha256), bytes),
    get: async (job, sha256) => {
      const bytes = await objects.get(nameOf(job, sha256));
      return bytes !== null && digestOf(bytes) === sha256 ? bytes : null;
    },
    erase: (job, sha256) => objects.erase(nameOf(job, sha256)),
  };
}

const nameOf = ({ tenant, jobId }: JobRef, sha256: string): string => `${tenant}.${jobId}.${sha256}`;
