import type { KV } from "nats";
import { type BucketSettings, changeEntry, openBucket } from "../nats/bucket.ts";
import { asking, type JetStreamConnection } from "../nats/connection.ts";
import { isWrongSequence } from "../nats/errors.ts";
import { openLazily } from "../nats/open-lazily.ts";
import { type ArchivedFile, digestOfJob, numbersIn, recordBytes, toRecord } from "./archive-format.ts";
import type { ArchiveIndex, JobsOfFile } from "./archive-index.ts";

const filesEntry = "files";
/** Each entry of the bucket holds the jobs whose digests begin with the same bits: at ten million jobs, ten kB. */
const bitsOfEntry = 14;
const atOnce = 32;

/**
 * The bucket ARCHIVE: sixteen bytes for each job and file. Digests are spread evenly, so a question reads one entry, from
 * the leader, and keeps nothing in memory that could be out of date.
 */
export function createJetStreamArchiveIndex(connection: JetStreamConnection, settings: BucketSettings): ArchiveIndex {
  const open = openLazily(() => openBucket(connection, "ARCHIVE", settings));
  const recordsIn = async (
    bucket: KV,
    name: string,
  ): Promise<{ readonly records: Buffer; readonly revision: number }> => {
    const entry = await asking(connection, () => bucket.get(name));
    return { records: Buffer.from(entry?.value ?? []), revision: entry?.revision ?? 0 };
  };
  const merge = async (bucket: KV, name: string, added: readonly Buffer[]): Promise<void> => {
    for (;;) {
      const { records, revision } = await recordsIn(bucket, name);
      const merged = mergedRecords(records, added);
      if (merged.length === records.length) return;
      try {
        await asking(connection, () => bucket.put(name, merged, { previousSeq: revision }));
        return;
      } catch (failure) {
        if (!isWrongSequence(failure)) throw failure;
      }
    }
  };
  return {
    files: async () => {
      const bucket = await open();
      const entry = await asking(connection, () => bucket.get(filesEntry));
      return readFiles(entry?.string() ?? null);
    },
    numbersOf: async (job) => {
      const digest = digestOfJob(job);
      return numbersIn((await recordsIn(await open(), entryOf(digest))).records, digest);
    },
    addJobs: async (files) => {
      const bucket = await open();
      const entries = [...recordsByEntry(files)];
      for (let first = 0; first < entries.length; first += atOnce) {
        const some = entries.slice(first, first + atOnce);
        await Promise.all(some.map(([name, records]) => merge(bucket, name, records)));
      }
    },
    addFiles: async (files) => {
      await changeEntry(connection, await open(), filesEntry, (before) => {
        const merged = new Map([...readFiles(before), ...files].map((file) => [file.number, file]));
        const text = JSON.stringify([...merged.values()].sort((one, other) => one.number - other.number));
        return { text: text === before ? null : text };
      });
    },
  };
}

const readFiles = (text: string | null): readonly ArchivedFile[] => (text === null ? [] : JSON.parse(text));

const entryOf = (digest: Buffer): string => `jobs.${digest.readUInt16BE(0) >> (16 - bitsOfEntry)}`;

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
