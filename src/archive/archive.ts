import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { JobRef } from "../event-log/event-log.ts";
import { Archived } from "../event-log/log-failures.ts";
import type { ArchivedEntry, ArchivedFile } from "./archive-format.ts";
import type { ArchiveIndex, JobsOfFile } from "./archive-index.ts";
import { BrokenArchive, entriesOfFile, faultOfFile, onArchiveFile } from "./read-archive-file.ts";

/** The files of the archive, as far as this process has them. Methods that read files throw Archived if one is not as it was recorded. */
export type Archive = {
  readonly files: ArchiveIndex["files"];
  readonly indexFault: ArchiveIndex["fault"];
  /** Whether a file holds entries of a job; needs no file. */
  readonly holds: (job: JobRef) => Promise<boolean>;
  /** All archived entries of a job, in order; empty if there are none. */
  readonly entriesOf: (job: JobRef) => Promise<readonly ArchivedEntry[]>;
  /** The same, one file after the other, of the files that hold anything between two sequences. */
  readonly byFile: (job: JobRef, range: Between) => AsyncIterable<readonly ArchivedEntry[]>;
  /** The entry at a sequence, and the file that holds it; null if there is none. */
  readonly entryAt: (sequence: number) => Promise<{ readonly file: string; readonly entry: ArchivedEntry } | null>;
  /** The entries after a sequence in these files, one file after the other. */
  readonly entries: (files: readonly ArchivedFile[], afterSequence: number) => AsyncIterable<readonly ArchivedEntry[]>;
  /** How many of the jobs in these files the index does not know. */
  readonly unindexed: (files: readonly ArchivedFile[]) => Promise<number>;
  /** What is wrong with a file; null if nothing is. */
  readonly faultOf: (file: ArchivedFile) => Promise<string | null>;
};

type Between = { readonly after: number; readonly before: number };

type Checked = { readonly size: number; readonly changedAtMs: number; readonly fault: string | null };

/** `directory` null: this process has no files. `jobOf` says which job a subject is about. */
export function createArchive(
  index: ArchiveIndex,
  directory: string | null,
  jobOf: (subject: string) => JobRef | null,
): Archive {
  const checked = new Map<string, Checked>();

  /** A file is read whole once; from then on its size and the time of its last change speak for it. */
  const faultOf = async (file: ArchivedFile): Promise<string | null> => {
    if (directory === null) return "ARCHIVE_DIR is not set";
    const path = join(directory, file.file);
    const found = await stat(path).catch(() => null);
    if (found === null) return `there is no such file in ${directory}`;
    const known = checked.get(file.file);
    if (known?.size === found.size && known.changedAtMs === found.mtimeMs) return known.fault;
    try {
      const fault = await faultOfFile(path, file);
      checked.set(file.file, { size: found.size, changedAtMs: found.mtimeMs, fault });
      return fault;
    } catch (failure) {
      // This says nothing about the file: what it may not read now, the process may read later.
      return `it cannot be read: ${failure instanceof Error ? failure.message : String(failure)}`;
    }
  };
  const pathOf = async (file: ArchivedFile): Promise<string> => {
    const fault = await faultOf(file);
    if (fault !== null || directory === null) throw new Archived(file.file, fault ?? "");
    return join(directory, file.file);
  };

  const byFile: Archive["byFile"] = async function* (job, { after, before }) {
    const numbers = await index.numbersOf(job);
    if (numbers.length === 0) return;
    const isOfJob = (subject: string): boolean => {
      const about = jobOf(subject);
      return about?.jobId === job.jobId && about.tenant === job.tenant;
    };
    for (const file of await index.files()) {
      if (!numbers.includes(file.number) || file.to <= after || file.from >= before) continue;
      const path = await pathOf(file);
      yield await explained(
        file,
        onArchiveFile(path, (archive) => archive.entriesOf(job, isOfJob)),
      );
    }
  };

  return {
    files: index.files,
    indexFault: index.fault,
    holds: async (job) => (await index.numbersOf(job)).length > 0,
    faultOf,
    unindexed: async (files) => {
      const jobs: JobsOfFile[] = [];
      for (const file of files) {
        const path = await pathOf(file);
        const digests = await explained(
          file,
          onArchiveFile(path, (archive) => archive.digests()),
        );
        jobs.push({ number: file.number, digests });
      }
      return await index.lacking(jobs);
    },
    byFile,
    entriesOf: async (job) => {
      const found: ArchivedEntry[] = [];
      for await (const entries of byFile(job, everything)) found.push(...entries);
      return found;
    },
    entryAt: async (sequence) => {
      const file = (await index.files()).find(({ from, to }) => from <= sequence && sequence <= to);
      if (file === undefined) return null;
      for await (const [entry] of entriesOfFile(await pathOf(file), sequence - 1)) {
        return entry?.sequence === sequence ? { file: file.file, entry } : null;
      }
      return null;
    },
    entries: async function* (files, afterSequence) {
      // All of them first: a reader that has begun can do nothing with a file that is missing in the middle.
      for (const file of files) await pathOf(file);
      for (const file of files) yield* entriesOfFile(await pathOf(file), afterSequence);
    },
  };
}

const everything: Between = { after: 0, before: Number.POSITIVE_INFINITY };

async function explained<Result>({ file }: ArchivedFile, reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (failure) {
    throw failure instanceof BrokenArchive ? new Archived(file, failure.message) : failure;
  }
}
