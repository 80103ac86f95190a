import type { LogArchived } from "../domain/log/events.ts";
import type { JobRef, StoredEvent } from "../event-log/event-log.ts";
import type { LogMessage } from "../event-log/log-message.ts";
import type { ArchivedEntry, ArchivedFile } from "./archive-format.ts";

/** A listener, or a durable consumer that has not acknowledged every entry, and how far it has come. */
export type Reader = { readonly name: string; readonly readUpTo: number };

/** The entries up to a sequence, and how many of them the log still holds. */
export type CutStep = { readonly to: number; readonly count: number };

/** The log as it is stored, for the command that archives it. Every method throws Unavailable. */
export interface StoredLog {
  /** The first sequence that the log still has. */
  firstSequence(): Promise<number>;

  /** The entries after a sequence up to another one, with their headers. */
  entries(afterSequence: number, upTo: number): AsyncIterable<readonly ArchivedEntry[]>;

  /** The first entry with a decision about a job, or about a mailing, that the log still has; 0 if there is none. */
  firstDecision(job: JobRef): Promise<number>;

  /** Which files the log records, as far as it was not cut. */
  recorded(): Promise<readonly StoredEvent<LogArchived>[]>;

  /** Which files these entries record. */
  recordedIn(entries: readonly LogMessage[]): readonly ArchivedFile[];

  /** Which entries are still needed by those who read the log. */
  readers(): Promise<readonly Reader[]>;

  /** Cuts off the beginning, step by step. Throws where the log does not hold what a step counts. */
  cut(steps: readonly CutStep[]): Promise<void>;
}
