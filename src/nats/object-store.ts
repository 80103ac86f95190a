import { hash } from "node:crypto";
import {
  headers,
  type JetStreamClient,
  type JetStreamManager,
  nuid,
  type ObjectInfo,
  type ObjectStore,
  StorageType,
} from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import type { BucketSettings } from "./bucket.ts";
import { asking, type JetStreamConnection } from "./connection.ts";
import { readPending } from "./consumers.ts";
import { isOutOfRoom, isWrongSequence } from "./errors.ts";
import { nextMessageOf, removeMessage } from "./jetstream-api.ts";
import { nameWith } from "./names.ts";
import { openLazily } from "./open-lazily.ts";

/** The timeout of each request; a large object takes some dozens of them at a time. */
const answerMs = 5000;

/** As the client makes them. */
const chunkBytes = 128 * 1024;
const chunksAtOnce = 50;

/**
 * Objects of any size in one bucket, which is created at the first access. Their names are tokens of subjects, with dots
 * between them. `put` throws `noRoom`.
 */
export type Objects = {
  /** Stores an object once: a complete existing one is left as it is. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** The bytes; null if the object does not exist, or is incomplete. */
  get(name: string): Promise<Buffer | null>;
  /** Overwrites and removes it, and leaves nothing that names it; a missing object is not a failure. */
  erase(name: string): Promise<void>;
};

/** The stream of such a bucket. */
export const streamOfObjects = (bucket: string): string => `OBJ_${bucket}`;

/**
 * The prefix of the subject of an object's metadata message, which follows the messages with its bytes; the object's
 * name comes after it.
 */
export const describesObject = (bucket: string): string => `$O.${bucket}.M.`;

/** As the client writes it: Base64 for URLs, with the padding that Node's own form omits. */
const forUrls = (base64: string): string => base64.replaceAll("+", "-").replaceAll("/", "_");

const encodedName = (object: string): string => forUrls(Buffer.from(object).toString("base64"));

export const nameOfObject = (bucket: string, subject: string): string =>
  Buffer.from(subject.slice(describesObject(bucket).length), "base64url").toString();

type Opened = {
  readonly objects: ObjectStore;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
};

export function openObjects(
  connection: JetStreamConnection,
  bucket: string,
  { prefix, replicas }: BucketSettings,
  noRoom: (cause: unknown) => Error,
): Objects {
  const name = nameWith(prefix, bucket);
  const stream = streamOfObjects(name);
  /** The name of the object comes first, so that the pieces of an upload that was cut off are erased with the object. */
  const chunksOf = ({ nuid }: Pick<ObjectInfo, "nuid">): string => `$O.${name}.C.${nuid}`;
  const allChunksOf = (object: string): string => chunksOf({ nuid: `${object}.>` });
  const descriptionOf = (object: string): string => `${describesObject(name)}${encodedName(object)}`;
  const open = openLazily(async (): Promise<Opened> => {
    const jetstream = connection.nats.jetstream({ timeout: answerMs });
    // Inherited, so that the client reads it and does not copy it into the stream's settings, where newer servers
    // reject it.
    const options: { readonly replicas: number } = Object.create({ replicas });
    const objects = await jetstream.views.os(name, Object.assign(options, { storage: StorageType.File }));
    return { objects, jetstream, manager: await jetstream.jetstreamManager() };
  });

  /** A reader would wait forever for an object with missing chunks. */
  const isWhole = async (manager: JetStreamManager, info: ObjectInfo): Promise<boolean> => {
    if (info.deleted) return false;
    const subject = chunksOf(info);
    const { state } = await manager.streams.info(stream, { subjects_filter: subject });
    return (state.subjects?.[subject] ?? 0) === info.chunks;
  };

  /** Deleting an object only unlinks its chunks: their bytes would stay on the disk. */
  const overwrite = async (chunks: string): Promise<void> => {
    // Oldest first: once the last of two is gone, NATS 2.9 answers that a subject has none.
    const next = () => nextMessageOf(connection, stream, chunks, 1);
    for (let chunk = await next(); chunk !== null; chunk = await next()) {
      // Another process may be erasing the same object.
      await removeMessage(connection, stream, chunk.sequence);
    }
  };

  /**
   * By sequence: after a purge of a subject or a rollup, NATS 2.9 delivers none of the messages before it to consumers whose
   * filter is wider, such as the sweeper's. The client's own deletion leaves a message for each object for ever.
   */
  const remove = async (info: Pick<ObjectInfo, "nuid">, described: number): Promise<void> => {
    await overwrite(chunksOf(info));
    await removeMessage(connection, stream, described);
  };

  /**
   * Stores the bytes, and then what describes them, where the last description still has this sequence. As the client
   * does, but for the name in the subjects of the chunks, and without `Nats-Rollup`: see `remove`.
   */
  const store = async ({ jetstream }: Opened, object: string, bytes: Uint8Array, revision: number): Promise<void> => {
    const size = Math.min(chunkBytes, connection.nats.info?.max_payload ?? chunkBytes);
    const described = { name: object, bucket: name, nuid: `${object}.${nuid.next()}`, size: bytes.length };
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    const subject = chunksOf(described);
    let mayBeDescribed = false;
    try {
      await Promise.all(chunks.map((chunk) => jetstream.publish(subject, chunk, { timeout: answerMs })));
      const more = { chunks: chunks.length, digest: digestOf(bytes), mtime: new Date().toISOString() };
      const info = { ...described, ...more, options: { max_chunk_size: size } };
      const messageHeaders = headers();
      messageHeaders.set("Nats-Expected-Last-Subject-Sequence", String(revision));
      const options = { headers: messageHeaders, timeout: answerMs };
      mayBeDescribed = true;
      await jetstream.publish(descriptionOf(object), JSON.stringify(info), options);
    } catch (failure) {
      // Where only the answer was lost, another process may have found the object whole, and said so. What stays is erased
      // with the object.
      const isRefused = isWrongSequence(failure) || isOutOfRoom(failure);
      if (!mayBeDescribed || isRefused) await overwrite(subject).catch(() => {});
      throw failure;
    }
  };

  /** A consumer costs less than to look for the first of the chunks. */
  const chunksOfWhole = async (info: ObjectInfo): Promise<Buffer> => {
    const chunks: Uint8Array[] = [];
    const wanted = { batch: chunksAtOnce, subject: chunksOf(info), end: info.revision };
    for await (const messages of readPending(connection, stream, 0, wanted)) {
      for (const { data } of messages) chunks.push(data);
    }
    if (chunks.length === info.chunks) return Buffer.concat(chunks);
    throw new Unavailable(`A replica of ${stream} does not have all of the object ${info.name}.`);
  };

  return {
    put: (object, bytes) =>
      asking(connection, async () => {
        const opened = await open();
        const there = await opened.objects.info(object);
        if (there !== null && (await isWhole(opened.manager, there))) return;
        try {
          // Guarded: of several processes that store it at once, one succeeds and the others delete their chunks.
          await store(opened, object, bytes, there?.revision ?? 0);
          if (there !== null) await remove(there, there.revision);
        } catch (failure) {
          if (isOutOfRoom(failure)) throw noRoom(failure);
          if (!isWrongSequence(failure)) throw failure;
        }
      }),
    get: (object) =>
      asking(connection, async () => {
        const { objects, manager } = await open();
        const there = await objects.info(object);
        if (there === null || !(await isWhole(manager, there))) return null;
        return await chunksOfWhole(there);
      }),
    erase: (object) =>
      asking(connection, async () => {
        const { manager } = await open();
        // By their own subjects: to find a message by a pattern, NATS 2.9 reads all of the stream.
        const { state } = await manager.streams.info(stream, { subjects_filter: allChunksOf(object) });
        for (const chunks of Object.keys(state.subjects ?? {})) await overwrite(chunks);
        const described = () => nextMessageOf(connection, stream, descriptionOf(object), 1);
        // A process that died while it replaced an object has left two.
        for (let found = await described(); found !== null; found = await described()) {
          await remove(JSON.parse(Buffer.from(found.data).toString()), found.sequence);
        }
      }),
  };
}

/** As the client writes it. */
const digestOf = (bytes: Uint8Array): string => `SHA-256=${forUrls(hash("sha256", bytes, "base64"))}`;
