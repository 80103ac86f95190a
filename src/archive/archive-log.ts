import { join } from "node:path";
import type { Instant } from "../domain/message.ts";
import { type EventLog, type JobRef, logRef } from "../event-log/event-log.ts";
import { VersionConflict } from "../event-log/log-failures.ts";
import { leafHashOf } from "../event-log/log-message.ts";
import { createGrowingTree } from "../seals/merkle.ts";
import type { StoredSeal } from "../seals/seal.ts";
import type { SealedLog } from "../seals/sealed-log.ts";
import type { ArchivedEntry, ArchivedFile, Block } from "./archive-format.ts";
import type { ArchiveIndex, JobsOfFile } from "./archive-index.ts";
import { ArchiveRefused, type Boundary, type BoundarySettings, findBoundary, firstOf } from "./find-boundary.ts";
import type { HeldBack } from "./open-jobs.ts";
import { entriesOfFile, faultOfFile, onArchiveFile } from "./read-archive-file.ts";
import { rebuildIndex } from "./rebuild-index.ts";
import type { CutStep, StoredLog } from "./stored-log.ts";
import { doneByAnother, findParts, removeParts, type WrittenFile, writeArchiveFile } from "./write-archive-file.ts";

export type ArchivePorts = {
  readonly log: EventLog;
  readonly sealedLog: SealedLog;
  readonly storedLog: StoredLog;
  readonly index: ArchiveIndex;
  /** The job that a subject is about; null for none. */
  readonly jobOf: (subject: string) => JobRef | null;
};

export type ArchiveSettings = BoundarySettings & {
  readonly directory: string;
  /** A file ends with the first seal after so many entries. */
  readonly entriesOfFile: number;
  readonly actor: string;
  readonly now: () => Instant;
};

export type ArchiveReport = {
  /** The files that were written, and those of an earlier run that were cut off only now. */
  readonly files: readonly ArchivedFile[];
  /** The last sequence that the log no longer has; 0 while it has all. */
  readonly cutTo: number;
  readonly heldBack: readonly HeldBack[];
  /** What the index lacked before it was made again from the files; null if nothing. */
  readonly indexFault: string | null;
};

/** Entries that are cut at a time: the log takes nothing meanwhile, for some 50 ms on the project's machine. */
const entriesOfStep = 5_000;

/**
 * Archives what may be archived: writes the files, compares them with the seals and names them, records them in the log,
 * indexes their jobs, and only then cuts the log. Killed at any moment, it has lost nothing, and called again it goes on:
 * files that the log does not record are written again, those that it records are indexed again, and then cut. Of two
 * processes at the same time, one records a file and the other is refused, however slow it is; it changes no file of the
 * first. An index that was lost is first made again from the files. Throws ArchiveRefused.
 */
export async function archiveLog(ports: ArchivePorts, settings: ArchiveSettings): Promise<ArchiveReport> {
  const { storedLog, index } = ports;
  const indexFault = await index.fault();
  if (indexFault !== null) await rebuildIndex(ports, settings.directory);
  const recorded = await storedLog.recorded();
  const known = byNumber([...(await index.files()), ...recorded.map(({ event }) => event.data)]);
  const archivedTo = known.at(-1)?.to ?? 0;
  const first = await storedLog.firstSequence();
  if (first > archivedTo + 1) {
    throw new ArchiveRefused(
      `The log begins at ${first}, and the archive ends at ${archivedTo}: what was between is lost.`,
    );
  }
  // What an earlier run recorded and did not cut off.
  const files = known.filter(({ to }) => to >= first);
  const { seals, held } = await findBoundary(ports, { first, to: archivedTo }, settings);
  let guard = recorded.at(-1)?.sequence ?? 0;
  let number = known.at(-1)?.number ?? 0;
  for (const group of inFiles(seals, settings.entriesOfFile)) {
    number += 1;
    const file = { number, ...(await writeChecked(ports, settings.directory, group, guard)) };
    // Each part is of a process that was killed, or that is refused from this record on.
    const parts = await findParts(settings.directory);
    guard = await record(ports.log, file, guard, settings);
    await removeParts(parts);
    files.push(file);
  }
  await cutOff(ports, settings.directory, files, first, held);
  return { files, cutTo: (await storedLog.firstSequence()) - 1, heldBack: await held(), indexFault };
}

/** An earlier run may have recorded some that the index does not name yet. */
const byNumber = (files: readonly ArchivedFile[]): readonly ArchivedFile[] =>
  [...new Map(files.map((file) => [file.number, file])).values()].sort((one, other) => one.number - other.number);

function inFiles(seals: readonly StoredSeal[], entries: number): readonly (readonly StoredSeal[])[] {
  const groups: StoredSeal[][] = [];
  let room = 0;
  for (const seal of seals) {
    if (room <= 0) {
      groups.push([]);
      room = entries;
    }
    groups.at(-1)?.push(seal);
    room -= seal.count;
  }
  return groups;
}

/** Writes the file of some ranges, and names it if it is what was sealed and no other process has recorded a file. */
async function writeChecked(
  { storedLog, jobOf }: ArchivePorts,
  directory: string,
  seals: readonly StoredSeal[],
  guard: number,
): Promise<WrittenFile> {
  const range = { from: seals[0]?.from ?? 0, to: seals.at(-1)?.to ?? 0 };
  const entries = storedLog.entries(range.from - 1, range.to);
  return await writeArchiveFile(directory, range, entries, jobOf, async (path, written) => {
    try {
      await compareWithSeals(path, written, seals);
    } finally {
      // Also where the entries are not what was sealed: another process may have cut the log while they were read.
      await expectLastRecord(storedLog, guard);
    }
  });
}

async function expectLastRecord(storedLog: StoredLog, sequence: number): Promise<void> {
  const last = (await storedLog.recorded()).at(-1)?.sequence ?? 0;
  if (last !== sequence) throw new ArchiveRefused(doneByAnother);
}

/** Reads a file back from the disk, and compares each range with its seal. */
async function compareWithSeals(path: string, written: WrittenFile, seals: readonly StoredSeal[]): Promise<void> {
  let next = 0;
  let tree = createGrowingTree();
  const whole = createGrowingTree();
  const closeBefore = (sequence: number): void => {
    for (let seal = seals[next]; seal !== undefined && seal.to < sequence; seal = seals[next]) {
      if (tree.size() !== seal.count || tree.root().toString("hex") !== seal.root) {
        throw new ArchiveRefused(
          `The log from ${seal.from} to ${seal.to} is not what was sealed: "waybill verify" says more.`,
        );
      }
      tree = createGrowingTree();
      next += 1;
    }
  };
  for await (const entries of entriesOfFile(path, 0)) {
    for (const entry of entries) {
      closeBefore(entry.sequence);
      const leaf = leafHashOf(entry);
      tree.add(leaf);
      whole.add(leaf);
    }
  }
  closeBefore(Number.POSITIVE_INFINITY);
  if (whole.size() !== written.count || whole.root().toString("hex") !== written.root) {
    throw new ArchiveRefused(`${written.file} does not hold what was written into it.`);
  }
}

async function record(
  log: EventLog,
  file: ArchivedFile,
  guard: number,
  { actor, now }: ArchiveSettings,
): Promise<number> {
  const event = { type: "LogArchived", at: now(), data: file } as const;
  const id = `archive/${file.from}-${file.to}/${file.sha256.slice(0, 16)}`;
  try {
    return await log.append(
      logRef,
      [{ id, event, actor, correlationId: null, causationId: null, traceparent: null }],
      guard,
    );
  } catch (failure) {
    if (!(failure instanceof VersionConflict)) throw failure;
    throw new ArchiveRefused(doneByAnother, { cause: failure });
  }
}

/** Few enough for the memory, and many enough that an entry of the index is not written again for every file. */
const filesAtATime = 10;

/**
 * Cuts off files that are as they were recorded, once all of their jobs are in the index, up to the first one with a job
 * that was opened again meanwhile.
 */
async function cutOff(
  { index, storedLog }: ArchivePorts,
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
