import { join } from "node:path";
import { leafHashOf } from "../event-log/log-message.ts";
import type { ArchivedEntry, ArchivedFile, Block } from "./archive-format.ts";
import type { ArchiveIndex, JobsOfFile } from "./archive-index.ts";
import { ArchiveRefused, type Boundary, firstOf } from "./find-boundary.ts";
import { faultOfFile, onArchiveFile } from "./read-archive-file.ts";
import type { CutStep, StoredLog } from "./stored-log.ts";

/** Entries that are cut at a time: the log takes nothing meanwhile, for some 50 ms on the project's machine. */
const entriesOfStep = 5_000;

/** Few enough for the memory, and many enough that an entry of the index is not written again for every file. */
const filesAtATime = 10;

/**
 * Cuts off files that are as they were recorded, once all of their jobs are in the index, up to the first one with a job
 * that was opened again meanwhile.
 */
export async function cutOff(
  { index, storedLog }: { readonly index: ArchiveIndex; readonly storedLog: StoredLog },
  directory: string,
  files: readonly ArchivedFile[],
  first: number,
  held: Boundary["held"],
): Promise<void> {
  const cuts: { readonly file: ArchivedFile; readonly last: Buffer | null; readonly steps: readonly CutStep[] }[] = [];
  for (let at = 0; at < files.length; at += filesAtATime) {
    const jobs: JobsOfFile[] = [];
    for (const file of files.slice(at, at + filesAtATime)) {
      const path = join(directory, file.file);
      const fault = await faultOfFile(path, file);
      if (fault !== null)
        throw new ArchiveRefused(`${file.file} in ${directory} is not what the log recorded: ${fault}.`);
      await onArchiveFile(path, async ({ description, digests, entries }) => {
        jobs.push({ number: file.number, digests: await digests() });
        const last = await leafOfFirst(entries(file.to - 1));
        cuts.push({ file, last, steps: toSteps(description.blocks, file.to, first) });
      });
    }
    await index.addJobs(jobs);
  }
  // After their jobs: a power cut takes the end of the bucket, and a list that it leaves is not to speak for jobs that it took.
  await index.addFiles(files);
  await index.complete();
  for (const { file, last, steps } of cuts) {
    if (firstOf(await held()) <= file.to) return;
    await expectSameEnd(storedLog, file, last);
    await storedLog.cut(steps);
  }
}

/** The index may name files of another log, or of one that was put back since: what stands there now is in no file. */
async function expectSameEnd(storedLog: StoredLog, { file, to }: ArchivedFile, last: Buffer | null): Promise<void> {
  const there = await leafOfFirst(storedLog.entries(to - 1, to));
  // Another process may have cut it off.
  if (there === null || (last !== null && there.equals(last))) return;
  throw new ArchiveRefused(
    `The log holds another entry at ${to} than ${file}, and is not cut: the bucket ARCHIVE is of another log, or of this one before it was put back.`,
  );
}

async function leafOfFirst(batches: AsyncIterable<readonly ArchivedEntry[]>): Promise<Buffer | null> {
  for await (const [entry] of batches) return entry === undefined ? null : leafHashOf(entry);
  return null;
}

/** An earlier run may have cut some blocks; a step ends with a block, the last one where the file ends. */
function toSteps(blocks: readonly Block[], to: number, first: number): readonly CutStep[] {
  const steps: CutStep[] = [];
  let count = 0;
  for (const [at, block] of blocks.entries()) {
    if (block.last < first) continue;
    count += block.count;
    const isLast = at === blocks.length - 1;
    if (count < entriesOfStep && !isLast) continue;
    steps.push({ to: isLast ? to : block.last, count });
    count = 0;
  }
  return steps;
}
