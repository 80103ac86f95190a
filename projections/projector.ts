import type { Knex } from "knex";
import type { JobContent } from "../src/content/content-store.ts";
import type { EventOfJob } from "../src/domain/job/job-view.ts";
import type { JobRef, StoredEvent } from "../src/event-log/event-log.ts";

/**
 * The live tables; those a rebuild fills; those it put aside, kept until somebody confirms or the next rebuild puts others
 * there; those a check compares with the live ones; and those that nobody wants any more, wherever they are found.
 */
export type Suffix = "" | "__next" | "__previous" | "__check" | "__dropped";

/** Null where the content was erased. Throws Unavailable where it cannot be read now. */
export type ContentReader = {
  (job: JobRef): Promise<JobContent | null>;
  /** Of one that keeps what it has read: it was erased, or a part of it. */
  readonly forget?: (job: JobRef) => void;
};

/** What a projection may ask besides the log. No other read model is among it. */
export type Sources = { readonly readContent: ContentReader };

export type ProjectionTarget = {
  readonly transaction: Knex.Transaction;
  readonly suffix: Suffix;
  readonly sources: Sources;
};

/**
 * One read model: the tables it owns and how events become rows of theirs. When, how often and into which set of
 * tables it projects is none of its business, so a rebuild and the live projection cannot differ.
 */
export type Projector<Event extends EventOfJob = EventOfJob> = {
  readonly name: string;
  /**
   * To be raised with every change of what the tables hold: rows of an older version are neither written nor read until
   * they are rebuilt. Processes of an older release go on reading the new rows, as far as their columns go, so rows that
   * an older release would misread get a table of another name.
   */
  readonly version: number;
  /** Columns that others write as well, by the name of the table: what stands in them is not of the log alone. */
  readonly alsoWritten?: Readonly<Record<string, readonly string[]>>;
  /** Columns and keys of each table, by its name without a suffix. */
  readonly tables: Readonly<Record<string, string>>;
  /** Queries over the live tables, by the name of the view. */
  readonly views: Readonly<Record<string, string>>;

  /** Events that can change a row: the others are not handed over, and cost no transaction. */
  readonly handles: readonly Event["type"][] | "every type";

  /**
   * The next events of the types that it handles, oldest first, each handed over exactly once as far as what is
   * committed goes. It throws where an event cannot be projected; a database or a content store that is away is no such
   * case.
   */
  project(events: readonly StoredEvent<Event>[], target: ProjectionTarget): Promise<void>;
};

export type EventOf<Type extends EventOfJob["type"]> = Extract<EventOfJob, { readonly type: Type }>;

export const isHandled = <Event extends EventOfJob>(
  { handles }: Pick<Projector<Event>, "handles">,
  stored: StoredEvent,
): stored is StoredEvent<Event> => handles === "every type" || handles.includes(stored.event.type);
