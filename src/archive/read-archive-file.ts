import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import type { JobRef } from "../event-log/event-log.ts";
import { readMessage } from "../seals/log-file.ts";
import {
  type ArchivedEntry,
  type ArchivedFile,
  archiveFormat,
  type Block,
  type Description,
  digestBytes,
  digestOfJob,
  lastLineBytes,
  numbersIn,
  recordBytes,
} from "./archive-format.ts";

/** The file is there, and is not what was written. */
export class BrokenArchive extends Error {
  override readonly name = "BrokenArchive";
}

export type ReadableArchive = {
  readonly description: Description;
  /** All entries after a sequence, block by block. */
  entries(afterSequence: number): AsyncIterable<readonly ArchivedEntry[]>;
  /** Everything on the subjects of a job, in order; and, because whole blocks are read, nothing else. */
  entriesOf(job: JobRef, isOfJob: (subject: string) => boolean): Promise<readonly ArchivedEntry[]>;
  /** The digests of all jobs in the file, ascending, each once. */
  digests(): Promise<readonly Buffer[]>;
};

const decompressed = promisify(inflate);

/** Works on an open file and closes it. Throws BrokenArchive, and the error of the file system. */
export async function onArchiveFile<Result>(
  path: string,
  work: (archive: ReadableArchive) => Promise<Result>,
): Promise<Result> {
  const handle = await open(path, "r");
  try {
    return await work(await readableOf(handle, path));
  } finally {
    await handle.close();
  }
}

/** As `onArchiveFile`, for entries one after the other. */
export async function* entriesOfFile(path: string, afterSequence: number): AsyncGenerator<readonly ArchivedEntry[]> {
  const handle = await open(path, "r");
  try {
    yield* (await readableOf(handle, path)).entries(afterSequence);
  } finally {
    await handle.close();
  }
}

async function readableOf(handle: FileHandle, path: string): Promise<ReadableArchive> {
  const description = await readDescription(handle, path);
  const { blocks, index } = description;
  const records = (): Promise<Buffer> => readAt(handle, path, index.offset, index.records * recordBytes);
  const readBlock = async ({ offset, length }: Block): Promise<readonly ArchivedEntry[]> => {
    const stored = await readAt(handle, path, offset, length);
    const text = await decompressed(stored).catch((cause: unknown) => {
      throw new BrokenArchive(`${path} cannot be decompressed at ${offset}`, { cause });
    });
    return text
      .toString("utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => toEntry(line, path));
  };
  return {
    description,
    entries: async function* (afterSequence) {
      for (const block of blocks) {
        if (block.last <= afterSequence) continue;
        const entries = await readBlock(block);
        yield entries[0] !== undefined && entries[0].sequence > afterSequence
          ? entries
          : entries.filter(({ sequence }) => sequence > afterSequence);
      }
    },
    entriesOf: async (job, isOfJob) => {
      const found: ArchivedEntry[] = [];
      for (const number of numbersIn(await records(), digestOfJob(job))) {
        const block = blocks[number];
        if (block === undefined) throw new BrokenArchive(`${path} names a block ${number} that it does not have`);
        found.push(...(await readBlock(block)).filter(({ subject }) => isOfJob(subject)));
      }
      return found;
    },
    digests: async () => {
      const all = await records();
      const digests: Buffer[] = [];
      for (let at = 0; at < all.length; at += recordBytes) {
        const digest = all.subarray(at, at + digestBytes);
        if (digests.at(-1)?.equals(digest) !== true) digests.push(digest);
      }
      return digests;
    },
  };
}

async function readDescription(handle: FileHandle, path: string): Promise<Description> {
  const { size } = await handle.stat();
  const end = size - lastLineBytes;
  const place = Number((await readAt(handle, path, end, lastLineBytes)).toString("latin1"));
  try {
    const text = (await readAt(handle, path, place, end - place)).toString("utf8");
    const description: Description = JSON.parse(text);
    if (description.format === archiveFormat) return description;
  } catch {
    // Reported below.
  }
  throw new BrokenArchive(`${path} does not end as a file of the archive: it was altered, or its end was cut off`);
}

async function readAt(handle: FileHandle, path: string, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, length));
  const { bytesRead } = offset < 0 ? { bytesRead: -1 } : await handle.read(buffer, 0, buffer.length, offset);
  if (bytesRead === buffer.length) return buffer;
  throw new BrokenArchive(`${path} is too short: it was cut off`);
}

function toEntry(line: string, path: string): ArchivedEntry {
  const entry = readMessage(line);
  if (entry === null) throw new BrokenArchive(`${path} holds a line that is no entry of the log`);
  return entry;
}

/** What is wrong with a file, in words for operators; null if it is, byte for byte, what the log recorded. */
export async function faultOfFile(
  path: string,
  { bytes, sha256 }: Pick<ArchivedFile, "bytes" | "sha256">,
): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return "it is missing";
  if (found.size < bytes) return `it was cut off: it has ${found.size} bytes; expected ${bytes}`;
  if (found.size > bytes) return `it was changed: it has ${found.size} bytes; expected ${bytes}`;
  const digest = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1_048_576 })) digest.update(chunk as Buffer);
  return digest.digest("hex") === sha256 ? null : "it was changed: its SHA-256 is not the one that the log recorded";
}
