import type { Knex } from "knex";
import { asBinding } from "../../src/database/database.ts";
import { onFreeTable } from "../../src/database/table-held.ts";
import {
  beginCheckpoint,
  type Checkpoint,
  checkpointColumns,
  checkpointTable,
  readCheckpoint,
} from "../following/checkpoint.ts";
import type { Projector, Suffix } from "../projector.ts";

/** Identifiers and addresses are compared byte by byte; a column that people search declares another collation. */
const tableOptions = "ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin COMMENT ?";

/**
 * Says of a table, whatever it is renamed to, which read model it belongs to: a release that has no such table any more, or
 * not yet, keeps, puts back and drops it with the others.
 */
const commentOf = ({ name }: Projector): string => `Waybill: read model ${name}`;

/**
 * The projection creates its own tables, and no migration does: they can be dropped and filled again from the log at
 * any time, so there is nothing in them to migrate.
 *
 * A set is complete when every table exists and the checkpoint, which is created last, has its row. An incomplete set,
 * because a table was dropped by hand or the process that created it was interrupted, is dropped and created again: its
 * checkpoint would describe rows that are gone. A set of another version is left as it is. Only for the holder of the
 * projection's lock.
 */
export async function ensureTables(db: Knex, projector: Projector): Promise<void> {
  switch (await conditionOf(db, projector)) {
    case "whole":
    case "other-version":
      return;
    case "without-views":
      return createViews(db, projector);
    case "broken":
      await dropTables(db, projector, "");
      await createTables(db, projector, "");
      await createViews(db, projector);
  }
}

/** What `ensureTables` would find. It needs no lock. */
export async function conditionOf(
  db: Knex,
  projector: Projector,
): Promise<"whole" | "without-views" | "broken" | "other-version"> {
  const tables = tableNames(projector, "");
  const views = Object.keys(projector.views);
  const found = new Set(await existing(db, [...tables, ...views]));
  const checkpoint = await liveCheckpoint(db, projector);
  if (checkpoint === null) return "broken";
  if (checkpoint.version !== projector.version) return "other-version";
  if (tables.some((name) => !found.has(name))) return "broken";
  return views.every((name) => found.has(name)) ? "whole" : "without-views";
}

/** Null if there is none, or no table for it. */
export async function liveCheckpoint(db: Knex, { name }: Projector): Promise<Checkpoint | null> {
  return (await existing(db, [checkpointTable(name)])).length === 0 ? null : readCheckpoint(db, name);
}

/** The checkpoint of a complete set of this release; null for any other. */
export async function wholeCheckpoint(db: Knex, projector: Projector, suffix: Suffix): Promise<Checkpoint | null> {
  const names = tableNames(projector, suffix);
  const found = await existing(db, names);
  return found.length < names.length ? null : readCheckpoint(db, projector.name, suffix);
}

/** Those beside the live ones are filled first: `addQueryKeys` gives them the keys of queries. */
export async function createTables(db: Knex, projector: Projector, suffix: Suffix): Promise<void> {
  const comment = commentOf(projector);
  for (const [name, columns] of Object.entries(projector.tables)) {
    const keys = suffix === "" ? queryKeysOf(projector, name).map(({ definition }) => definition) : [];
    await db.raw(`CREATE TABLE ?? (${[columns, ...keys].join(", ")}) ${tableOptions}`, [name + suffix, comment]);
  }
  const checkpoint = checkpointTable(projector.name, suffix);
  await db.raw(`CREATE TABLE ?? (${checkpointColumns}) ${tableOptions}`, [checkpoint, comment]);
  await beginCheckpoint(db, projector.name, suffix, projector.version);
}

export const queryKeysOf = ({ queryKeys }: Projector, table: string) =>
  Object.entries(queryKeys?.[table] ?? {}).map(([name, columns]) => ({ name, definition: `KEY ${name} (${columns})` }));

/**
 * With their views, and with tables that only another release has. Drops the checkpoint first: tables left over after a crash
 * are then no complete set. Throws TableHeld where a session keeps one open. `run` says on which connection: tables that belong
 * to the holder of a lock are dropped on that of the lock, as they are another process's once it is lost.
 */
export async function dropTables(
  db: Knex,
  projector: Projector,
  suffix: Suffix,
  run: (sql: string) => Promise<unknown> = async (sql) => db.raw(sql),
): Promise<void> {
  const found = (await foundTables(db, projector)).get(suffix) ?? [];
  const [checkpoint] = tableNames(projector, suffix);
  const tables = found.toSorted((one, other) => Number(other === checkpoint) - Number(one === checkpoint));
  for (const name of tables) await onFreeTable(db, name, () => run(`DROP TABLE IF EXISTS \`${name}\``));
  for (const name of Object.keys(projector.views)) await run(`DROP VIEW IF EXISTS \`${name}${suffix}\``);
}

async function createViews(db: Knex, projector: Projector): Promise<void> {
  for (const statement of viewStatements(projector)) await db.raw(statement);
}

export const viewStatements = (projector: Projector): string[] =>
  Object.entries(projector.views).map(([name, query]) => `CREATE OR REPLACE VIEW \`${name}\` AS ${query}`);

export const tableNames = (projector: Projector, suffix: Suffix): string[] => [
  checkpointTable(projector.name, suffix),
  ...Object.keys(projector.tables).map((name) => name + suffix),
];

const suffixes: readonly Suffix[] = ["", "__next", "__previous", "__check", "__dropped"];

/** The tables of a projection that there are, also those that only another release has, by the suffix of their set. */
export async function foundTables(db: Knex, projector: Projector): Promise<ReadonlyMap<Suffix, readonly string[]>> {
  const sql = `
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = DATABASE() AND (table_comment = ? OR table_name IN (?)) ORDER BY table_name`;
  const known = suffixes.flatMap((suffix) => tableNames(projector, suffix));
  const [rows] = (await db.raw(sql, [commentOf(projector), asBinding(known)])) as [{ name: string }[]];
  const found = new Map<Suffix, string[]>();
  for (const { name } of rows) {
    const suffix = suffixes.find((one) => one !== "" && name.endsWith(one)) ?? "";
    found.set(suffix, [...(found.get(suffix) ?? []), name]);
  }
  return found;
}

/** Those of these tables and views that exist. */
export async function existing(db: Knex, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const sql =
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN (?)";
  const [rows] = (await db.raw(sql, [asBinding(names)])) as [{ name: string }[]];
  return rows.map(({ name }) => name);
}
