import type { Knex } from "knex";
import type { DeadLetterRecord, DeadLetterStatus } from "../../src/domain/job/dead-letter.ts";
import type { Instant } from "../../src/domain/message.ts";
import { readCheckpoint } from "../following/checkpoint.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { toDate, toInstant } from "../instants.ts";
import { type PageOptions, readNewestFirst } from "../newest-first.ts";
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
  /** Null after the last. */
  readonly nextCursor: string | null;
};

/** Dead letters that failed for the same reason. */
export type LettersOfCause = {
  readonly code: string;
  readonly cause: string;
  readonly letters: number;
  readonly newestFailedAt: Instant;
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
  count(tenant: string, filter: DeadLetterFilter): Promise<number>;
  /** At most `most` causes. */
  causes(tenant: string, status: DeadLetterStatus | null, most: number): Promise<DeadLetterCauses>;
};

export const createDeadLetterQueries = (db: Knex): DeadLetterQueries =>
  onReadableRows(db, deadLettersProjector, {
    list: async (tenant, options) => {
      const { letters: table } = deadLetterTables("");
      const { rows, ...page } = await readNewestFirst<LetterRow>(
        db,
        { projection: "dead-letters", table, matching: matching(tenant, options) },
        options,
      );
      return { ...page, letters: rows.map(toDeadLetter) };
    },
    countOpen: async (most) => {
      const open: DeadLetterStatus = "open";
      const some = db(deadLetterTables("").letters).select(db.raw("1 AS one")).where({ status: open }).limit(most);
      const found = await db.from(some.as("open_letters")).count<{ letters: number | string }[]>({ letters: "*" });
      return Number(found[0]?.letters ?? 0);
    },
    count: async (tenant, filter) => {
      const found = await db(deadLetterTables("").letters)
        .where(matching(tenant, filter))
        .count<{ letters: number | string }[]>({ letters: "*" });
      return Number(found[0]?.letters ?? 0);
    },
    causes: async (tenant, status, most) => {
      // Reads the checkpoint first: the rows are then at least as new as it.
      const checkpoint = await readCheckpoint(db, deadLettersProjector.name);
      const rows: readonly CauseRow[] = await db(deadLetterTables("").letters)
        .where({ tenant, ...(status === null ? {} : { status }) })
        .groupBy("error_code", "cause")
        .select("error_code", "cause", db.raw("COUNT(*) AS letters"), db.raw("MAX(failed_at) AS newest"))
        .orderBy([{ column: "letters", order: "desc" }, "error_code", "cause"])
        .limit(most);
      return { readSequence: checkpoint?.sequence ?? 0, causes: rows.map(toCause) };
    },
  });

const matching =
  (tenant: string, { status, code, cause, failedBefore }: DeadLetterFilter) =>
  (query: Knex.QueryBuilder): void => {
    void query.where({
      tenant,
      ...(status === null ? {} : { status }),
      ...(code === null ? {} : { error_code: code }),
      ...(cause === null ? {} : { cause }),
    });
    if (failedBefore !== null) void query.andWhere("failed_at", "<", toDate(failedBefore));
  };

type CauseRow = Pick<LetterRow, "error_code" | "cause"> & {
  readonly letters: number | string;
  readonly newest: Date;
};

const toCause = ({ error_code: code, cause, letters, newest }: CauseRow): LettersOfCause => ({
  code,
  cause,
  letters: Number(letters),
  newestFailedAt: toInstant(newest),
});
