import type { Turn } from "../job/events.ts";
import type { Message } from "../message.ts";

/** What a report is made of, and how it is written down. */
export type ReportOf = "jobs" | "logs" | "events";
export type ReportFormat = "csv" | "ndjson";

/**
 * So much of the file that a run of a report makes is stored, beginning with its first row: later ones of the run say
 * more, never less. What is in the file is content, and may be erased.
 */
export type ResultEvent = Message<
  "ResultStored",
  Turn & {
    readonly of: ReportOf;
    readonly format: ReportFormat;
    /** The pieces in which the file is stored, the rows in them, and their bytes. */
    readonly chunks: number;
    readonly rows: number;
    readonly bytes: number;
    /** SHA-256 (hex) of the whole file; null while more of it is to come. */
    readonly sha256: string | null;
  }
>;
