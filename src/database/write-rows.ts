import { setImmediate } from "node:timers/promises";
import type { Knex } from "knex";
import { escape as escapeText, raw } from "mysql2";
import { asBinding } from "./database.ts";

/**
 * In characters, of three bytes at most. While the server is busy with one statement, the next one is put into words: with
 * fewer and longer ones the two wait for each other. Far below `max_allowed_packet`, which is 16 MB by default on MariaDB;
 * a longer statement costs the connection.
 */
const statementLength = 250_000;

type Table<Row> = { readonly table: string; readonly columns: readonly (keyof Row & string)[] };
export type Rows<Row> = Table<Row> & { readonly rows: Iterable<Row> };

export type RowWriter<Row> = {
  /** Takes the rows one by one, so that they need not all be there at a time. */
  add(rows: Iterable<Row>): Promise<void>;
  /** Resolves once all are written. */
  end(): Promise<void>;
};

/** Inserts rows that become known one after the other. */
export const openInsert = <Row>(transaction: Knex.Transaction, into: Table<Row>): RowWriter<Row> =>
  createWriter(transaction, into, "");

/** Inserts rows, many in a statement. An existing row is an error. */
export async function insertRows<Row>(transaction: Knex.Transaction, rows: Rows<Row>): Promise<void> {
  await write(transaction, rows, "");
}

/** Inserts rows; in existing ones it overwrites the columns in `put`, by default every column. */
export async function putRows<Row>(
  transaction: Knex.Transaction,
  { put, ...rows }: Rows<Row> & { readonly put?: readonly (keyof Row & string)[] },
): Promise<void> {
  // VALUES() is deprecated in MySQL, but its replacement is a syntax error in MariaDB.
  const updates = (put ?? rows.columns).map((column) => `\`${column}\` = VALUES(\`${column}\`)`);
  await write(transaction, rows, ` ON DUPLICATE KEY UPDATE ${updates.join(", ")}`);
}

/** Inserts rows, or adds the given columns to existing ones. */
export async function addRows<Row>(
  transaction: Knex.Transaction,
  { summed, ...rows }: Rows<Row> & { readonly summed: readonly (keyof Row & string)[] },
): Promise<void> {
  const updates = summed.map((column) => `\`${column}\` = \`${column}\` + VALUES(\`${column}\`)`);
  await write(transaction, rows, ` ON DUPLICATE KEY UPDATE ${updates.join(", ")}`);
}

/** They take a moment: a connection is given up that says nothing for ten seconds, which a million take. */
const deletedAtOnce = 5000;

/** Deletes the rows with a time before another one, some in a statement. A key of the table begins with the column. */
export async function deleteBefore(
  transaction: Knex.Transaction,
  table: string,
  column: string,
  before: Date,
): Promise<void> {
  for (let deleted = deletedAtOnce; deleted === deletedAtOnce; ) {
    const sql = "DELETE FROM ?? WHERE ?? < ? ORDER BY ?? LIMIT ?";
    const [result] = await transaction.raw(sql, [table, column, before, column, deletedAtOnce]);
    deleted = (result as { readonly affectedRows: number }).affectedRows;
  }
}

async function write<Row>(transaction: Knex.Transaction, { rows, ...into }: Rows<Row>, ending: string): Promise<void> {
  const writer = createWriter(transaction, into, ending);
  await writer.add(rows);
  await writer.end();
}

/**
 * Sends the rows as text, `(1, 'a'), (2, 'b')`. The driver could produce it too, but from arrays that the query builder
 * traverses once more: that takes twice the CPU time, and a mailing writes a row for each mail.
 */
function createWriter<Row>(
  transaction: Knex.Transaction,
  { table, columns }: Table<Row>,
  ending: string,
): RowWriter<Row> {
  const sql = `INSERT INTO ?? (${columns.map((column) => `\`${column}\``).join(", ")}) VALUES ?${ending}`;
  const toDateLiteral = createDateLiterals();
  let portion: string[] = [];
  let length = 0;
  let before: Promise<unknown> = Promise.resolve();
  const send = async (): Promise<void> => {
    const list = raw(`(${portion.join("), (")})`);
    portion = [];
    length = 0;
    // Never two at a time: a server that ends a transaction, as it does in a deadlock, commits what comes after it.
    await before;
    before = transaction.raw(sql, [table, asBinding(list)]).then();
    // It is awaited above or below; until then its failure is no one's.
    before.catch(() => {});
    // It is sent now, and the next rows are put into words while the server is busy with it.
    await setImmediate();
  };
  return {
    add: async (rows) => {
      for (const row of rows) {
        const values = columns.map((column) => toLiteral(row[column], toDateLiteral)).join(", ");
        if (portion.length > 0 && length + values.length > statementLength) await send();
        portion.push(values);
        length += values.length;
      }
    },
    end: async () => {
      if (portion.length > 0) await send();
      await before;
    },
  };
}

function toLiteral(value: unknown, toDateLiteral: (date: Date) => string): string {
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "number") return String(value);
  if (value === null) return "NULL";
  if (value instanceof Date) return toDateLiteral(value);
  if (value instanceof Uint8Array)
    return `X'${Buffer.from(value.buffer, value.byteOffset, value.length).toString("hex")}'`;
  throw new TypeError(`A value of type ${typeof value} cannot be written into a row.`);
}

/** In UTC, as the connection reads it. Most values have the same millisecond as the one before. */
function createDateLiterals(): (date: Date) => string {
  let lastMs = Number.NaN;
  let literal = "";
  return (date) => {
    if (date.getTime() === lastMs) return literal;
    const instant = date.toISOString();
    lastMs = date.getTime();
    literal = `'${instant.slice(0, 10)} ${instant.slice(11, 23)}'`;
    return literal;
  };
}
