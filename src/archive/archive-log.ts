import type { LogArchived } from "../domain/log/events.ts";
import type { Instant } from "../domain/message.ts";
import { type EventLog, type JobRef, logRef, type StoredEvent } from "../event-log/event-log.ts";
import { VersionConflict } from "../event-log/log-failures.ts";
import { leafHashOf } from "../event-log/log-message.ts";
import { createGrowingTree } from "../seals/merkle.ts";
import type { StoredSeal } from "../seals/seal.ts";
import type { SealedLog } from "../seals/sealed-log.ts";
import type { ArchivedFile } from "./archive-format.ts";
import type { ArchiveIndex } from "./archive-index.ts";
import { cutOff } from "./cut-off.ts";
import { ArchiveRefused, type BoundarySettings, findBoundary } from "./find-boundary.ts";
import type { HeldBack } from "./open-jobs.ts";
import { entriesOfFile } from "./read-archive-file.ts";
import { rebuildIndex } from "./rebuild-index.ts";
import type { StoredLog } from "./stored-log.ts";
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
  // In this order: another process records a file before it lists it.
  const listed = await index.files();
  const recorded = await storedLog.recorded();
  const known = byNumber([...listed, ...recorded.map(({ event }) => event.data)]);
  const archivedTo = known.at(-1)?.to ?? 0;
  const first = await storedLog.firstSequence();
  if (first > archivedTo + 1) {
    throw new ArchiveRefused(
      `The log begins at ${first}, and the archive ends at ${archivedTo}: what was between is lost.`,
    );
  }
  // What an earlier run recorded and did not cut off.
  const files = known.filter(({ to }) => to >= first);
  for (const file of files) expectRecorded(file, recorded);
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

/**
 * A record stands behind what it is about, so the log still has that of a file that is not cut off. Without one, nothing but
 * the bucket would know the file.
 */
function expectRecorded({ number, file }: ArchivedFile, recorded: readonly StoredEvent<LogArchived>[]): void {
  if (recorded.some(({ event }) => event.data.number === number)) return;
  throw new ArchiveRefused(
    `The bucket ARCHIVE names ${file}, which is not cut off yet, and the log does not record it: the bucket is of another log, or of this one at a later moment. Delete the bucket, and run this again: it is made again from what the log records.`,
  );
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
