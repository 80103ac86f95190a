import type { Knex } from "knex";
import { readCheckpoint } from "./following/checkpoint.ts";

export type PageOptions = {
  /** The `nextCursor` of the page before, as a number. */
  readonly cursor: number | null;
  readonly limit: number;
};

export type Page<Row> = {
  readonly readSequence: number;
  readonly rows: readonly Row[];
  /** Null after the last. */
  readonly nextCursor: string | null;
};

/** Columns with the value that they have, or the conditions themselves. */
type Matching = Readonly<Record<string, unknown>> | ((query: Knex.QueryBuilder) => void);

/** A page of the matching rows of a projection, the newest `sequence` first. */
export async function readNewestFirst<Row extends { readonly sequence: number }>(
  db: Knex,
  { projection, table, matching }: { projection: string; table: string | Knex.Raw; matching: Matching },
  { cursor, limit }: PageOptions,
): Promise<Page<Row>> {
  // Reads the checkpoint first: the rows are then at least as new as it.
  const checkpoint = await readCheckpoint(db, projection);
  const found: Row[] = await db(table)
    .where(matching)
    .andWhere("sequence", "<", cursor ?? Number.MAX_SAFE_INTEGER)
    .orderBy("sequence", "desc")
    .limit(limit + 1);
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    readSequence: checkpoint?.sequence ?? 0,
    rows,
    nextCursor: last === undefined ? null : String(last.sequence),
  };
}
