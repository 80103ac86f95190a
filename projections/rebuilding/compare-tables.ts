import type { Connection } from "mysql2";
import { ask } from "../../src/database/session.ts";
import type { Projector } from "../projector.ts";

export type Difference = {
  readonly table: string;
  /** The primary key of the row. */
  readonly key: Readonly<Record<string, unknown>>;
  /** `missing` rows are absent from the live tables; `surplus` rows are absent from the log's projection. */
  readonly kind: "missing" | "surplus" | "changed";
  /** For `changed`: the columns, with the value in the live row and the value according to the log. */
  readonly columns: Readonly<Record<string, { readonly live: unknown; readonly log: unknown }>>;
};

type Column = { readonly name: string; readonly type: string; readonly isKey: boolean };

const textTypes: ReadonlySet<string> = new Set(["char", "varchar", "tinytext", "text", "mediumtext", "longtext"]);

/** The first differences between the live tables and those of a check, a few of each kind for each table. */
export async function compareTables(
  connection: Connection,
  projector: Projector,
  limit: number,
): Promise<readonly Difference[]> {
  const differences: Difference[] = [];
  for (const table of Object.keys(projector.tables)) {
    if (projector.notCompared?.includes(table)) continue;
    const columns = await columnsOfTable(connection, table);
    const ignored = projector.alsoWritten?.[table] ?? [];
    differences.push(
      ...(await rowsOfOne(connection, table, columns, "missing", limit)),
      ...(await rowsOfOne(connection, table, columns, "surplus", limit)),
      ...(await changedRows(connection, table, columns, ignored, limit)),
    );
  }
  return differences;
}

async function columnsOfTable(connection: Connection, table: string): Promise<readonly Column[]> {
  const sql = `
    SELECT column_name AS name, data_type AS type, column_key = 'PRI' AS is_key FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position`;
  const rows = await ask<{ name: string; type: string; is_key: number }>(connection, sql, [table]);
  return rows.map(({ name, type, is_key: isKey }) => ({ name, type: type.toLowerCase(), isKey: isKey === 1 }));
}

const quoted = (name: string): string => `\`${name}\``;

/** NULL equals NULL, and texts are compared byte by byte, whatever the collation of the column. */
function sameIn({ name, type }: Column): string {
  const [live, log] = [`live.${quoted(name)}`, `log.${quoted(name)}`];
  return textTypes.has(type) ? `CAST(${live} AS BINARY) <=> CAST(${log} AS BINARY)` : `${live} <=> ${log}`;
}

const keysOf = (columns: readonly Column[]): readonly Column[] => columns.filter(({ isKey }) => isKey);

const joined = (columns: readonly Column[]): string =>
  keysOf(columns)
    .map(({ name }) => `live.${quoted(name)} = log.${quoted(name)}`)
    .join(" AND ");

async function rowsOfOne(
  connection: Connection,
  table: string,
  columns: readonly Column[],
  kind: "missing" | "surplus",
  limit: number,
): Promise<readonly Difference[]> {
  const [mine, other] = kind === "missing" ? ["log", "live"] : ["live", "log"];
  const keys = keysOf(columns);
  const names = { live: quoted(table), log: quoted(`${table}__check`) } as const;
  const sql = `
    SELECT ${keys.map(({ name }) => `${mine}.${quoted(name)}`).join(", ")}
    FROM ${names[mine as "live" | "log"]} AS ${mine} LEFT JOIN ${names[other as "live" | "log"]} AS ${other}
      ON ${joined(columns)}
    WHERE ${other}.${quoted(keys[0]?.name ?? "")} IS NULL LIMIT ?`;
  const rows = await ask<Record<string, unknown>>(connection, sql, [limit]);
  return rows.map((key) => ({ table, key, kind, columns: {} }));
}

async function changedRows(
  connection: Connection,
  table: string,
  columns: readonly Column[],
  ignored: readonly string[],
  limit: number,
): Promise<readonly Difference[]> {
  const compared = columns.filter(({ name, isKey }) => !isKey && !ignored.includes(name));
  if (compared.length === 0) return [];
  const selected = [
    ...keysOf(columns).map(({ name }, at) => `live.${quoted(name)} AS k${at}`),
    ...compared.flatMap((column, at) => [
      `live.${quoted(column.name)} AS a${at}`,
      `log.${quoted(column.name)} AS b${at}`,
      `${sameIn(column)} AS s${at}`,
    ]),
  ];
  const sql = `
    SELECT ${selected.join(", ")} FROM ${quoted(table)} AS live JOIN ${quoted(`${table}__check`)} AS log
      ON ${joined(columns)}
    WHERE NOT (${compared.map(sameIn).join(" AND ")}) LIMIT ?`;
  const rows = await ask<Record<string, unknown>>(connection, sql, [limit]);
  return rows.map((row) => ({
    table,
    key: Object.fromEntries(keysOf(columns).map(({ name }, at) => [name, row[`k${at}`]])),
    kind: "changed",
    columns: Object.fromEntries(
      compared.flatMap(({ name }, at) =>
        row[`s${at}`] === 1 ? [] : [[name, { live: row[`a${at}`], log: row[`b${at}`] }] as const],
      ),
    ),
  }));
}
