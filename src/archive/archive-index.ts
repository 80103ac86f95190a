import type { JobRef } from "../event-log/event-log.ts";
import type { ArchivedFile } from "./archive-format.ts";

/** Jobs by their digests, and the number of a file that has entries of them. */
export type JobsOfFile = { readonly number: number; readonly digests: readonly Buffer[] };

/**
 * What is archived, and which job is in which file: all that is left of an archived job beside the archive itself. It is
 * complete before the log loses anything, so a reader that finds nothing in the log and then nothing here knows that
 * there never was such a job. Every method throws Unavailable when it cannot be reached, and may be called again.
 *
 * Where it was lost, a job that it does not name may have been archived, and its key would be taken once more.
 */
export interface ArchiveIndex {
  /** In the order of their numbers, which is that of the log. */
  files(): Promise<readonly ArchivedFile[]>;

  /**
   * The numbers of the files with entries of a job, ascending; empty if it has none in the archive. Throws Unavailable
   * while the index has a fault.
   */
  numbersOf(job: JobRef): Promise<readonly number[]>;

  /** How many of these jobs and files it does not have. */
  lacking(files: readonly JobsOfFile[]): Promise<number>;

  /** Adds the jobs of some files; those that are there stay. */
  addJobs(files: readonly JobsOfFile[]): Promise<void>;

  /** Adds files, or replaces those of the same number. */
  addFiles(files: readonly ArchivedFile[]): Promise<void>;

  /** Notes that jobs are missing that were cut off: until `complete` it has a fault. */
  incomplete(): Promise<void>;

  /** Notes how large it is, before the log is cut: what is lost of it later shows. */
  complete(): Promise<void>;

  /** What it lacks of what was cut off from the log, in words for operators; null if nothing. */
  fault(): Promise<string | null>;
}
