import type { Knex } from "knex";
import type { JobContent } from "../src/content/content-store.ts";
import { putRows } from "../src/database/write-rows.ts";
import type { JobRef } from "../src/event-log/event-log.ts";
import type { ProjectionTarget } from "./projector.ts";

/** Longer lists make MariaDB turn them into a join. */
const listedAtOnce = 500;
/**
 * A content can be a megabyte long, and a batch can be about thousands of jobs: they are never all loaded at a time.
 */
const readAtOnce = 20;
/** A connection that says nothing for ten seconds is given up. */
const sayWithinMs = 3000;

/** Each id once, always in the same order, so that no two transactions deadlock. */
export const idsOf = <Item>(items: readonly Item[], idOf: (item: Item) => string): readonly string[] =>
  [...new Set(items.map(idOf))].sort();

export function* inPortions<Item>(items: readonly Item[], size = listedAtOnce): Generator<readonly Item[]> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size);
}

/** The rows of a table that have one of the values in a column. */
export async function rowsWith<Row>(
  transaction: Knex.Transaction,
  table: string,
  column: keyof Row & string,
  values: readonly string[],
): Promise<readonly Row[]> {
  const found: Row[] = [];
  for (const some of inPortions(values)) {
    const rows: Row[] = await transaction(table).whereIn(column, [...some]);
    found.push(...rows);
  }
  return found;
}

/** The rows of one table that a batch may change: loaded once, changed in memory, and written if they differ. */
export type RowsOfBatch<Row> = {
  /** By the columns of the key, in their order. */
  find(...key: readonly (string | number)[]): Row | undefined;
  all(): readonly Row[];
  /** Replaces the row with the same key. Do not change a loaded row in place. */
  put(row: Row): void;
  remove(row: Row): void;
  /** Writes in as few statements as the server accepts, whatever the number of events was. Returns what differed. */
  write(): Promise<Difference<Row>>;
};

/**
 * The rows that were changed or removed, as they were before, and the rows that were changed or added, as they are now.
 */
type Difference<Row> = { readonly before: readonly Row[]; readonly after: readonly Row[] };

/** Loads the rows whose key, the primary key of the table, begins with one of the ids. */
export async function loadRows<Row extends object>(
  transaction: Knex.Transaction,
  table: string,
  key: readonly [keyof Row & string, ...(keyof Row & string)[]],
  ids: readonly string[],
): Promise<RowsOfBatch<Row>> {
  const textOf = (row: Row): string => key.map((column) => row[column]).join(" ");
  const loaded = (await rowsWith<Row>(transaction, table, key[0], ids)).map((row) => [textOf(row), row] as const);
  const before: ReadonlyMap<string, Row> = new Map(loaded);
  const rows = new Map(before);
  const remove = async (gone: readonly Row[]): Promise<void> => {
    if (key.length === 1) {
      for (const some of inPortions(gone)) {
        const values = some.map((row) => row[key[0]] as string);
        await transaction(table).whereIn(key[0], values).delete();
      }
      return;
    }
    // Some servers scan the whole table for a list of pairs.
    for (const row of gone) await transaction(table).where(pick(row, key)).delete();
  };
  return {
    find: (...values) => rows.get(values.join(" ")),
    all: () => [...rows.values()],
    put: (row) => void rows.set(textOf(row), row),
    remove: (row) => void rows.delete(textOf(row)),
    write: async () => {
      await remove([...before].filter(([text]) => !rows.has(text)).map(([, row]) => row));
      const after = [...rows].filter(([text, row]) => before.get(text) !== row).map(([, row]) => row);
      const [first] = after;
      if (first !== undefined) {
        await putRows<Row>(transaction, { table, columns: Object.keys(first) as (keyof Row & string)[], rows: after });
      }
      return { before: [...before].filter(([text, row]) => rows.get(text) !== row).map(([, row]) => row), after };
    },
  };
}

const pick = <Row extends object>(row: Row, columns: readonly (keyof Row & string)[]): Partial<Row> =>
  Object.fromEntries(columns.map((column) => [column, row[column]])) as Partial<Row>;

/**
 * Yields the content of each job, null if it was erased, in the order of the jobs; reads a few ahead. Keeps the connection of
 * the transaction alive meanwhile, however slowly they come.
 */
export async function* readContents<Job extends JobRef>(
  jobs: readonly Job[],
  { transaction, sources: { readContent: read } }: Pick<ProjectionTarget, "transaction" | "sources">,
  atOnce = readAtOnce,
): AsyncGenerator<{ readonly job: Job; readonly content: JobContent | null }> {
  let saidAt = performance.now();
  const reading: Promise<JobContent | null>[] = [];
  for (const [index, job] of jobs.entries()) {
    for (const next of jobs.slice(index + reading.length, index + atOnce)) {
      const content = read(next);
      // A failure reaches the caller once it is the turn of this job, if it ever is.
      content.catch(() => {});
      reading.push(content);
    }
    const content = (await reading.shift()) ?? null;
    if (performance.now() - saidAt > sayWithinMs) {
      await transaction.raw("SELECT 1");
      saidAt = performance.now();
    }
    yield { job, content };
  }
}
