import type { KV } from "nats";
import { Unavailable } from "../domain/unavailable.ts";
import { streamName } from "../event-log/subjects.ts";
import { type BucketSettings, changeEntry, openBucket, streamOfBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isStreamMissing, isWrongSequence } from "../nats/errors.ts";
import { askJetStream, lastMessageOf } from "../nats/jetstream-api.ts";
import { nameWith } from "../nats/names.ts";
import { firstSequenceOf } from "../nats/read-subject.ts";
import { type ArchivedFile, digestOfJob, numbersIn, recordBytes, toRecord } from "./archive-format.ts";
import type { ArchiveIndex, JobsOfFile } from "./archive-index.ts";

const filesEntry = "files";
/** How many entries there were when the index was complete. */
const sizeEntry = "size";
/** Each entry of the bucket holds the jobs whose digests begin with the same bits: at ten million jobs, ten kB. */
const bitsOfEntry = 14;
const atOnce = 32;
/** Entries that were deleted show so late at most, so that a question about a job costs no more than the entry that it reads. */
const soundForMs = 1000;

type BucketFacts = { readonly state: { readonly messages: number } };
type Entry = { readonly data: Buffer; readonly revision: number; readonly hasBucket: boolean };

/**
 * The bucket ARCHIVE: sixteen bytes for each job and file. Digests are spread evenly, so a question reads one entry, from
 * the leader, and keeps nothing in memory that could be out of date. Only what adds to it creates it: an empty bucket in
 * place of one that was lost would hide the loss from other processes.
 */
export function createJetStreamArchiveIndex(connection: JetStreamConnection, settings: BucketSettings): ArchiveIndex {
  const name = nameWith(settings.prefix, "ARCHIVE");
  const open = (): Promise<KV> => openBucket(connection, "ARCHIVE", settings);
  let sound = { at: Number.NEGATIVE_INFINITY, hasBucket: false };
  const read = (entry: string): Promise<Entry> =>
    asking(connection, async () => {
      let hasBucket = true;
      const found = await lastMessageOf(connection, streamOfBucket(name), `$KV.${name}.${entry}`).catch((failure) => {
        hasBucket = false;
        return nullIfMissing(failure);
      });
      return { data: Buffer.from(found?.data ?? []), revision: found?.sequence ?? 0, hasBucket };
    });
  const readFiles = async (): Promise<readonly ArchivedFile[]> => toFiles((await read(filesEntry)).data.toString());
  const merge = async (bucket: KV, entry: string, added: readonly Buffer[]): Promise<void> => {
    for (;;) {
      const { data, revision } = await read(entry);
      const merged = mergedRecords(data, added);
      if (merged.length === data.length) return;
      try {
        await asking(connection, () => bucket.put(entry, merged, { previousSeq: revision }));
        return;
      } catch (failure) {
        if (!isWrongSequence(failure)) throw failure;
      }
    }
  };
  const countEntries = (): Promise<number> =>
    asking(connection, async () => {
      const asked = askJetStream<BucketFacts>(connection, `$JS.API.STREAM.INFO.${streamOfBucket(name)}`, "");
      return (await asked.catch(nullIfMissing))?.state.messages ?? 0;
    });

  /** The log first: what it has lost by then was in the index before. */
  const fault = async (): Promise<string | null> => {
    const stream = streamName(settings.prefix, "JOBS");
    const first = await firstSequenceOf(connection, stream).catch(nullIfMissing);
    if (first === null || first <= 1) return null;
    const archivedTo = (await readFiles()).at(-1)?.to ?? 0;
    const what = `The log begins at ${first}, and the index of archived jobs (the bucket ${name} in NATS)`;
    if (archivedTo < first - 1) return `${what} ends at ${archivedTo}.`;
    const expected = (await read(sizeEntry)).data.toString();
    const found = await countEntries();
    // Of a process that died while it made the index again, the size is no number.
    return found >= Number(expected) ? null : `${what} has ${found} entries; expected ${expected} or more.`;
  };
  const expectSound = async ({ hasBucket }: Entry): Promise<void> => {
    const at = performance.now();
    // A bucket that was there a moment ago is lost.
    if (at - sound.at < soundForMs && hasBucket === sound.hasBucket) return;
    const found = await fault();
    if (found !== null) throw new Unavailable(found);
    sound = { at, hasBucket };
  };
  const noteSize = async (size: string): Promise<void> => {
    await changeEntry(connection, await open(), sizeEntry, (before) => ({ text: size === before ? null : size }));
  };

  return {
    files: readFiles,
    fault,
    numbersOf: async (job) => {
      const digest = digestOfJob(job);
      const entry = await read(entryOf(digest));
      await expectSound(entry);
      return numbersIn(entry.data, digest);
    },
    lacking: async (files) => {
      let lacking = 0;
      await forEachEntry(files, async (entry, records) => {
        const { data } = await read(entry);
        lacking += (mergedRecords(data, records).length - data.length) / recordBytes;
      });
      return lacking;
    },
    addJobs: async (files) => {
      const bucket = await open();
      await forEachEntry(files, (entry, records) => merge(bucket, entry, records));
    },
    addFiles: async (files) => {
      await changeEntry(connection, await open(), filesEntry, (before) => {
        const merged = new Map([...toFiles(before ?? ""), ...files].map((file) => [file.number, file]));
        const text = JSON.stringify([...merged.values()].sort((one, other) => one.number - other.number));
        return { text: text === before ? null : text };
      });
    },
    incomplete: () => noteSize("all"),
    complete: async () => noteSize(String(await countEntries())),
  };
}

function nullIfMissing(failure: unknown): null {
  if (isStreamMissing(failure)) return null;
  throw failure;
}

const toFiles = (text: string): readonly ArchivedFile[] => (text === "" ? [] : JSON.parse(text));

const entryOf = (digest: Buffer): string => `jobs.${digest.readUInt16BE(0) >> (16 - bitsOfEntry)}`;

async function forEachEntry(
  files: readonly JobsOfFile[],
  work: (entry: string, records: readonly Buffer[]) => Promise<void>,
): Promise<void> {
  const entries = [...recordsByEntry(files)];
  for (let first = 0; first < entries.length; first += atOnce) {
    await Promise.all(entries.slice(first, first + atOnce).map(([entry, records]) => work(entry, records)));
  }
}

function recordsByEntry(files: readonly JobsOfFile[]): ReadonlyMap<string, readonly Buffer[]> {
  const byEntry = new Map<string, Buffer[]>();
  for (const { number, digests } of files) {
    for (const digest of digests) {
      const name = entryOf(digest);
      const records = byEntry.get(name) ?? [];
      records.push(toRecord(digest, number));
      byEntry.set(name, records);
    }
  }
  return byEntry;
}

function mergedRecords(records: Buffer, added: readonly Buffer[]): Buffer {
  const all = [...added];
  for (let at = 0; at < records.length; at += recordBytes) all.push(records.subarray(at, at + recordBytes));
  all.sort(Buffer.compare);
  return Buffer.concat(all.filter((record, at) => all[at - 1]?.equals(record) !== true));
}
