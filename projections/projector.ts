import type { Knex } from "knex";
import type { JobContent } from "../src/content/content-store.ts";
import type { EventOfJob } from "../src/domain/job/job-view.ts";
import type { JobRef, StoredEvent, TenantEvent } from "../src/event-log/event-log.ts";

/**
 * The sets of tables: the live ones; those that a rebuild fills; those that it replaced, kept until an operator
 * confirms or the next rebuild replaces them; those that a check compares with the live ones; and those to be dropped
 * wherever they are found.
 */
export type Suffix = "" | "__next" | "__previous" | "__check" | "__dropped";

/** Null if the content was erased. Throws Unavailable if it cannot be read now. */
export type ContentReader = {
  (job: JobRef): Promise<JobContent | null>;
  /** For a reader with a cache: drops a content that was erased, in whole or in part. */
  readonly forget?: (job: JobRef) => void;
};

/** What a projection may read besides the log. Other read models are deliberately absent. */
export type Sources = { readonly readContent: ContentReader };

export type ProjectionTarget = {
  readonly transaction: Knex.Transaction;
  readonly suffix: Suffix;
  readonly sources: Sources;
};

/**
 * One read model: the tables it owns and how events become rows in them. When, how often and into which set of tables
 * it projects is decided elsewhere, so a rebuild and the live projection cannot differ.
 */
export type Projector<Event extends TenantEvent = TenantEvent> = {
  readonly name: string;
  /**
   * Raise it with every change of what the tables hold: rows of an older version are neither written nor read until
   * they are rebuilt. Processes of an older release go on reading the new rows, as far as their columns go, so a table
   * that an older release would misread gets another name.
   */
  readonly version: number;
  /** Columns that other code writes as well, by the name of the table: their values do not come from the log alone. */
  readonly alsoWritten?: Readonly<Record<string, readonly string[]>>;
  /** Tables that a check leaves out: their rows follow from contents, too, which may have been erased since. */
  readonly notCompared?: readonly string[];
  /** Columns and keys of each table, by its name without a suffix. */
  readonly tables: Readonly<Record<string, string>>;
  /** Further keys, by the name of the table: for queries alone, so that a table can be filled before it has them. */
  readonly queryKeys?: Readonly<Record<string, QueryKeys>>;
  /** Queries over the live tables, by the name of the view. */
  readonly views: Readonly<Record<string, string>>;

  /** The events that can change a row: others are not passed to `project`, and cost no transaction. */
  readonly handles: readonly Event["type"][] | "every type";

  /**
   * Projects the next events of the types that it handles, oldest first. Each event is passed exactly once, as far as
   * committed transactions are concerned. Throws if an event cannot be projected; a database or a content store that is
   * away is not such a case.
   */
  project(events: readonly StoredEvent<Event>[], target: ProjectionTarget): Promise<void>;
};

/** The columns of each key, by its name. */
export type QueryKeys = Readonly<Record<string, string>>;

export type EventOf<Type extends EventOfJob["type"]> = Extract<EventOfJob, { readonly type: Type }>;

export const isHandled = <Event extends TenantEvent>(
  { handles }: Pick<Projector<Event>, "handles">,
  stored: StoredEvent<TenantEvent>,
): stored is StoredEvent<Event> => handles === "every type" || handles.includes(stored.event.type);

/** Copies of tables, and contents in memory, may hold what this event erases: of a schedule that is its name. */
export const isErasure = ({ event }: StoredEvent<TenantEvent>): boolean =>
  event.type === "JobContentErased" || event.type === "MailingContentErased" || event.type === "ScheduleDeleted";
