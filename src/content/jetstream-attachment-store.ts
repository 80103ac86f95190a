import { type JetStreamManager, type ObjectInfo, type ObjectStore, StorageType } from "nats";
import { type JobRef, LogFull } from "../event-log/event-log.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isOutOfRoom, isWrongSequence } from "../nats/errors.ts";
import { nextMessageOf, removeMessage } from "../nats/jetstream-api.ts";
import { nameWith } from "../nats/names.ts";
import { readSubject } from "../nats/read-subject.ts";
import type { AttachmentStore } from "./content-store.ts";
import { digestOf } from "./encode-content.ts";

type BucketSettings = { readonly prefix: string; readonly replicas: number };

type Bucket = { readonly objects: ObjectStore; readonly manager: JetStreamManager; readonly name: string };

/** For each question, of which a large attachment takes some dozens at a time. */
const answerMs = 5000;

/** One object an attachment in the bucket ATTACHMENTS, which is made when the first one is stored or asked for. */
export function createJetStreamAttachmentStore(
  connection: JetStreamConnection,
  settings: BucketSettings,
): AttachmentStore {
  let bucket: Promise<Bucket> | null = null;
  const open = (): Promise<Bucket> => {
    bucket ??= openBucket(connection, settings).catch((failure: unknown) => {
      bucket = null;
      throw failure;
    });
    return bucket;
  };

  return {
    put: (job, sha256, bytes) =>
      asking(connection, async () => {
        const { objects, manager, name } = await open();
        const there = await objects.info(nameOf(job, sha256));
        if (there !== null && (await isWhole(manager, name, there))) return;
        try {
          // Guarded: of several who store it at once, one stands and the others clear away what they brought.
          const options = { previousRevision: there?.revision ?? 0, timeout: answerMs };
          await objects.putBlob({ name: nameOf(job, sha256) }, bytes, options);
        } catch (failure) {
          if (isOutOfRoom(failure)) throw new LogFull("There is no room for the attachment.", { cause: failure });
          if (!isWrongSequence(failure)) throw failure;
        }
      }),
    get: (job, sha256) =>
      asking(connection, async () => {
        const { objects, manager, name } = await open();
        const there = await objects.info(nameOf(job, sha256));
        if (there === null || !(await isWhole(manager, name, there))) return null;
        const chunks = await readSubject(connection, streamOf(name), chunksOf(name, there));
        const bytes = Buffer.concat(chunks.map(({ data }) => data));
        return digestOf(bytes) === sha256 ? bytes : null;
      }),
    erase: (job, sha256) =>
      asking(connection, async () => {
        const { objects, name } = await open();
        const there = await objects.info(nameOf(job, sha256));
        if (there === null || there.deleted) return;
        await overwrite(connection, name, there);
        await objects.delete(nameOf(job, sha256));
      }),
  };
}

async function openBucket(connection: JetStreamConnection, { prefix, replicas }: BucketSettings): Promise<Bucket> {
  const name = nameWith(prefix, "ATTACHMENTS");
  const jetstream = connection.nats.jetstream({ timeout: answerMs });
  // Inherited, so that the client reads it and does not copy it into the stream's settings, where newer servers refuse it.
  const options: { readonly replicas: number } = Object.create({ replicas });
  const objects = await jetstream.views.os(name, Object.assign(options, { storage: StorageType.File }));
  return { objects, manager: await jetstream.jetstreamManager(), name };
}

const nameOf = ({ tenant, jobId }: JobRef, sha256: string): string => `${tenant}.${jobId}.${sha256}`;

const streamOf = (bucket: string): string => `OBJ_${bucket}`;

const chunksOf = (bucket: string, { nuid }: ObjectInfo): string => `$O.${bucket}.C.${nuid}`;

/** An object whose chunks are not all there would be waited for without end. */
async function isWhole(manager: JetStreamManager, bucket: string, info: ObjectInfo): Promise<boolean> {
  if (info.deleted) return false;
  const subject = chunksOf(bucket, info);
  const { state } = await manager.streams.info(streamOf(bucket), { subjects_filter: subject });
  return (state.subjects?.[subject] ?? 0) === info.chunks;
}

/** To delete an object unlinks its chunks; what was in them would stay on the disk. */
async function overwrite(connection: JetStreamConnection, bucket: string, info: ObjectInfo): Promise<void> {
  // The oldest first: once the last of more than two is gone, NATS 2.9 answers that a subject has none.
  const next = () => nextMessageOf(connection, streamOf(bucket), chunksOf(bucket, info), 1);
  for (let chunk = await next(); chunk !== null; chunk = await next()) {
    // Somebody else may be at it too.
    await removeMessage(connection, streamOf(bucket), chunk.sequence);
  }
}
