import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { deflate } from "node:zlib";
import type { JobRef } from "../event-log/event-log.ts";
import { leafHashOf } from "../event-log/log-message.ts";
import { toLine } from "../seals/log-file.ts";
import { createGrowingTree } from "../seals/merkle.ts";
import {
  type ArchivedEntry,
  type ArchivedFile,
  archiveFormat,
  type Block,
  type Description,
  digestOfJob,
  firstLine,
  lastLineOf,
  nameOfFile,
  toRecord,
} from "./archive-format.ts";
import { ArchiveRefused } from "./find-boundary.ts";
import { faultOfFile } from "./read-archive-file.ts";

type Range = { readonly from: number; readonly to: number };
export type WrittenFile = Omit<ArchivedFile, "number">;

/** What is read of a file for one job: small blocks are read faster, large ones are smaller together. */
const entriesOfBlock = 500;
const bytesOfBlock = 262_144;

export const doneByAnother = "Another process archives this log, or has done so meanwhile.";

const compressed = promisify(deflate);

/**
 * Writes a file whole, or leaves none of its name: it is written under a name that no other process has, and gets its own
 * once all of it is on the disk and `check` has not thrown. `jobOf` says which job a subject is about; null for none.
 */
export async function writeArchiveFile(
  directory: string,
  range: Range,
  entries: AsyncIterable<readonly ArchivedEntry[]>,
  jobOf: (subject: string) => JobRef | null,
  check: (path: string, written: WrittenFile) => Promise<void>,
): Promise<WrittenFile> {
  await mkdir(directory, { recursive: true });
  const file = nameOfFile(range.from, range.to);
  const path = join(directory, file);
  const part = `${path}.${randomUUID()}${partEnd}`;
  const handle = await open(part, "wx");
  const hash = createHash("sha256");
  let bytes = 0;
  const write = async (data: Buffer | string): Promise<void> => {
    const buffer = Buffer.from(data);
    await handle.writeFile(buffer);
    hash.update(buffer);
    bytes += buffer.length;
  };
  try {
    await write(firstLine);
    const content = createContent(jobOf, async (lines) => {
      const [offset, block] = [bytes, await compressed(lines)];
      await write(block);
      return { offset, length: block.length };
    });
    for await (const batch of entries) for (const entry of batch) await content.add(entry);
    const { blocks, records, count, root } = await content.end();
    const index = { offset: bytes, records: records.length };
    await write(Buffer.concat(records));
    const place = bytes;
    const description: Description = { format: archiveFormat, ...range, count, root, index, blocks };
    await write(`${JSON.stringify(description)}\n`);
    await write(lastLineOf(place));
    await handle.sync();
    await handle.close();
    const written = { ...range, count, root, file, bytes, sha256: hash.digest("hex") };
    await check(part, written);
    await nameFile(part, path, written);
    await syncDirectory(directory);
    return written;
  } finally {
    await handle.close().catch(() => {});
    await removeParts([part]);
  }
}

/** Replaces nothing: another process may record a file of this name at any moment. A file with the same bytes will do. */
async function nameFile(part: string, path: string, written: WrittenFile): Promise<void> {
  try {
    await link(part, path);
  } catch (failure) {
    const { code } = failure as NodeJS.ErrnoException;
    // A process that recorded a file has removed the part.
    if (code === "ENOENT") throw new ArchiveRefused(doneByAnother, { cause: failure });
    if (code !== "EEXIST") throw failure;
    if ((await faultOfFile(path, written)) === null) return;
    throw new ArchiveRefused(
      `${path} is there already, the log does not record it, and it holds other bytes than would be written. If another log is archived into this directory, give each a directory of its own. Else run this again; if it is refused again, move that file away first.`,
    );
  }
}

const partEnd = ".part";

/** Files that have not got their names: some process writes them, or was killed while it did. */
export async function findParts(directory: string): Promise<readonly string[]> {
  const parts = (await readdir(directory)).filter((name) => name.startsWith("log-") && name.endsWith(partEnd));
  return parts.map((name) => join(directory, name));
}

/** As far as it can: one that stays takes room, and does no other harm. */
export async function removeParts(paths: readonly string[]): Promise<void> {
  for (const path of paths) await rm(path, { force: true }).catch(() => {});
}

type Flush = (lines: string) => Promise<Pick<Block, "offset" | "length">>;

/** Collects entries into blocks, and notes in which blocks a job has some. */
function createContent(jobOf: (subject: string) => JobRef | null, flush: Flush) {
  const tree = createGrowingTree();
  const blocks: Block[] = [];
  const records: Buffer[] = [];
  let inBlock = new Set<string>();
  let lines: string[] = [];
  let size = 0;
  let [first, last] = [0, 0];

  const endBlock = async (): Promise<void> => {
    if (lines.length === 0) return;
    const count = lines.length;
    const written = await flush(lines.join(""));
    blocks.push({ ...written, first, last, count });
    [inBlock, lines, size] = [new Set(), [], 0];
  };
  return {
    add: async (entry: ArchivedEntry): Promise<void> => {
      const line = `${toLine(entry)}\n`;
      if (lines.length === 0) first = entry.sequence;
      last = entry.sequence;
      lines.push(line);
      size += line.length;
      tree.add(leafHashOf(entry));
      const job = jobOf(entry.subject);
      const name = job === null ? null : `${job.tenant}\n${job.jobId}`;
      if (job !== null && name !== null && !inBlock.has(name)) {
        inBlock.add(name);
        records.push(toRecord(digestOfJob(job), blocks.length));
      }
      if (lines.length >= entriesOfBlock || size >= bytesOfBlock) await endBlock();
    },
    end: async () => {
      await endBlock();
      records.sort(Buffer.compare);
      return { blocks, records, count: tree.size(), root: tree.root().toString("hex") };
    },
  };
}

/** The name of a file is on the disk only once its directory is. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
