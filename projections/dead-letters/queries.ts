import type { Knex } from "knex";
import type { DeadLetterRecord, DeadLetterStatus } from "../../src/domain/job/dead-letter.ts";
import { readCheckpoint } from "../checkpoint.ts";
import { type LetterRow, toDeadLetter } from "./rows.ts";
import { deadLetterTables } from "./tables.ts";

export type DeadLetterListOptions = {
  /** Null means any. */
  readonly status: DeadLetterStatus | null;
  /** The `nextCursor` of the page before, as a number. */
  readonly cursor: number | null;
  readonly limit: number;
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
};

export const createDeadLetterQueries = (db: Knex): DeadLetterQueries => ({
  list: async (tenant, { status, cursor, limit }) => {
    // The checkpoint first: the rows are then at least as new as it says.
    const checkpoint = await readCheckpoint(db, "dead-letters");
    const rows: LetterRow[] = await db(deadLetterTables("").letters)
      .where({ tenant, ...(status === null ? {} : { status }) })
      .andWhere("sequence", "<", cursor ?? Number.MAX_SAFE_INTEGER)
      .orderBy("sequence", "desc")
      .limit(limit + 1);
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      readSequence: checkpoint?.sequence ?? 0,
      letters: page.map(toDeadLetter),
      nextCursor: last === undefined ? null : String(last.sequence),
    };
  },
});
