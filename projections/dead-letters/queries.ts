import type { Knex } from "knex";
import type { DeadLetterRecord, DeadLetterStatus } from "../../src/domain/job/dead-letter.ts";
import { onReadableRows } from "../following/readable-rows.ts";
import { type PageOptions, readNewestFirst } from "../newest-first.ts";
import { deadLettersProjector } from "./projector.ts";
import { deadLetterTables, type LetterRow, toDeadLetter } from "./rows.ts";

export type DeadLetterListOptions = PageOptions & {
  /** Null means any. */
  readonly status: DeadLetterStatus | null;
};

export type DeadLetterList = {
  readonly readSequence: number;
  /** The newest failure first. */
  readonly letters: readonly DeadLetterRecord[];
  /** Null after the last. */
  readonly nextCursor: string | null;
};

export type DeadLetterQueries = {
  list(tenant: string, options: DeadLetterListOptions): Promise<DeadLetterList>;
  /** Over all tenants; stops counting at `most`. */
  countOpen(most: number): Promise<number>;
};

export const createDeadLetterQueries = (db: Knex): DeadLetterQueries =>
  onReadableRows(db, deadLettersProjector, {
    list: async (tenant, { status, ...options }) => {
      const matching = { tenant, ...(status === null ? {} : { status }) };
      const { letters: table } = deadLetterTables("");
      const { rows, ...page } = await readNewestFirst<LetterRow>(
        db,
        { projection: "dead-letters", table, matching },
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
  });
