import { createHash } from "node:crypto";
import { mkdir, open, rename } from "node:fs/promises";
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

type Range = { readonly from: number; readonly to: number };
export type WrittenFile = Omit<ArchivedFile, "number">;

/** What is read of a file for one job: small blocks are read faster, large ones are smaller together. */
const entriesOfBlock = 500;
const bytesOfBlock = 262_144;

const compressed = promisify(deflate);

/**
 * Writes a file whole, or leaves none of its name: it is renamed once all of it is on the disk. `jobOf` says which job a
 * subject is about; null for none. An existing file is replaced.
 */
export async function writeArchiveFile(
  directory: string,
  range: Range,
  entries: AsyncIterable<readonly ArchivedEntry[]>,
  jobOf: (subject: string) => JobRef | null,
): Promise<WrittenFile> {
  await mkdir(directory, { recursive: true });
  const file = nameOfFile(range.from, range.to);
  const path = join(directory, file);
  const handle = await open(`${path}.part`, "w");
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
    await rename(`${path}.part`, path);
    await syncDirectory(directory);
    return { ...range, count, root, file, bytes, sha256: hash.digest("hex") };
  } finally {
    await handle.close().catch(() => {});
  }
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
