import type { Turn } from "../job/events.ts";
import type { Message } from "../message.ts";

/** The source of a report, and its format. */
export type ReportOf = "jobs" | "logs" | "events";
export type ReportFormat = "csv" | "ndjson";

/**
 * The part of the file of a report's run that is stored so far, from its first row on: later events of the run cover
 * more, never less. The rows in the file are content, and may be erased.
 */
export type ResultEvent = Message<
  "ResultStored",
  Turn & {
    readonly of: ReportOf;
    readonly format: ReportFormat;
    /** The pieces in which the file is stored, their rows, and their bytes. */
    readonly chunks: number;
    readonly rows: number;
    readonly bytes: number;
    /** SHA-256 (hex) of the whole file; null while it is incomplete. */
    readonly sha256: string | null;
  }
>;
