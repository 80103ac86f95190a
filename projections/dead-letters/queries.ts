import type { Knex } from "knex";
import type { DeadLetterRecord, DeadLetterStatus } from "../../src/domain/job/dead-letter.ts";
import type { Instant } from "../../src/domain/message.ts";
import { readCheckpoint } from "../following/checkpoint.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { toDate } from "../instants.ts";
import { type PageOptions, readNewestFirst } from "../newest-first.ts";
import { type Counted, countLetters, type LettersOfCause, readCauses } from "./count-letters.ts";
import { deadLettersProjector } from "./projector.ts";
import { deadLetterTables, type LetterRow, toDeadLetter } from "./rows.ts";

/** Null means any. */
export type DeadLetterFilter = {
  readonly status: DeadLetterStatus | null;
  readonly code: string | null;
  /** See causeOf. */
  readonly cause: string | null;
  /** Excludes the instant itself. */
  readonly failedBefore: Instant | null;
};

export type DeadLetterListOptions = PageOptions & DeadLetterFilter;

export type DeadLetterList = {
  readonly readSequence: number;
  /** The newest failure first. */
  readonly letters: readonly DeadLetterRecord[];
  /** Null after the last. With a code or a cause, a page may have one that is not full, or empty: it goes on with the rest. */
  readonly nextCursor: string | null;
};

export type DeadLetterCauses = {
  readonly readSequence: number;
  /** The most frequent first. */
  readonly causes: readonly LettersOfCause[];
};

export type DeadLetterQueries = {
  list(tenant: string, options: DeadLetterListOptions): Promise<DeadLetterList>;
  /** Over all tenants; stops counting at `most`. */
  countOpen(most: number): Promise<number>;
  /** Null where too many have failed since that time. */
  count(tenant: string, counted: Counted): Promise<number | null>;
  /** At most `most` causes. */
  causes(tenant: string, status: DeadLetterStatus | null, most: number): Promise<DeadLetterCauses>;
};

/** How many letters one answer looks through, of which only some match: it takes a tenth of a second. */
const usualBound = 10_000;

const { letters: table } = deadLetterTables("");

export const createDeadLetterQueries = (db: Knex, bound = usualBound): DeadLetterQueries =>
  onReadableRows(db, deadLettersProjector, {
    list: async (tenant, options) => {
      const end = await endOfSearch(db, tenant, options, bound);
      const { rows, nextCursor, ...page } = await readNewestFirst<LetterRow>(
        db,
        {
          projection: "dead-letters",
          table: db.raw("?? FORCE INDEX (??)", [table, indexOf(options)]),
          matching: matching(tenant, options, end),
        },
        options,
      );
      return {
        ...page,
        letters: rows.map(toDeadLetter),
        nextCursor: nextCursor ?? (end === null ? null : String(end)),
      };
    },
    countOpen: async (most) => {
      const open: DeadLetterStatus = "open";
      const some = db(table).select(db.raw("1 AS one")).where({ status: open }).limit(most);
      const found = await db.from(some.as("open_letters")).count<{ letters: number | string }[]>({ letters: "*" });
      return Number(found[0]?.letters ?? 0);
    },
    count: (tenant, counted) => countLetters(db, tenant, counted, bound),
    causes: async (tenant, status, most) => {
      // Reads the checkpoint first: the rows are then at least as new as it.
      const checkpoint = await readCheckpoint(db, deadLettersProjector.name);
      return { readSequence: checkpoint?.sequence ?? 0, causes: await readCauses(db, tenant, status, most) };
    },
  });

const matching =
  (tenant: string, { status, code, cause, failedBefore }: DeadLetterFilter, end: number | null) =>
  (query: Knex.QueryBuilder): void => {
    void query.where({
      tenant,
      ...(status === null ? {} : { status }),
      ...(code === null ? {} : { error_code: code }),
      ...(cause === null ? {} : { cause }),
    });
    if (failedBefore !== null) void query.andWhere("failed_at", "<", toDate(failedBefore));
    if (end !== null) void query.andWhere("sequence", ">=", end);
  };

const isWholeReason = ({ status, code, cause }: DeadLetterFilter): boolean =>
  status !== null && code !== null && cause !== null;

/** The index that has the letters in their order. */
function indexOf(filter: DeadLetterFilter): string {
  if (isWholeReason(filter)) return "by_cause";
  return filter.status === null ? "by_failure" : "by_status_and_failure";
}

/** The last letter that a page looks at, if no index has those that match, and there are more. */
async function endOfSearch(
  db: Knex,
  tenant: string,
  { cursor, ...filter }: DeadLetterListOptions,
  bound: number,
): Promise<number | null> {
  if (isWholeReason(filter) || (filter.code === null && filter.cause === null)) return null;
  const row: Pick<LetterRow, "sequence"> | undefined = await db(db.raw("?? FORCE INDEX (??)", [table, indexOf(filter)]))
    .where({ tenant, ...(filter.status === null ? {} : { status: filter.status }) })
    .andWhere("sequence", "<", cursor ?? Number.MAX_SAFE_INTEGER)
    .orderBy("sequence", "desc")
    .offset(bound - 1)
    .first("sequence");
  return row === undefined ? null : Number(row.sequence);
}
