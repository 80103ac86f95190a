import { setImmediate } from "node:timers/promises";
import type { Knex } from "knex";
import { escape as escapeText, raw } from "mysql2";
import { asBinding } from "./database.ts";

/**
 * In characters, of three bytes at most: well below `max_allowed_packet`, which is 16 MB by default on MariaDB. A longer
 * statement costs the connection.
 */
const maxStatementLength = 2_000_000;

export type Rows<Row> = {
  readonly table: string;
  readonly columns: readonly (keyof Row & string)[];
  readonly rows: readonly Row[];
};

/** Inserts rows in as few statements as the server accepts. An existing row is an error. */
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

async function write<Row>(
  transaction: Knex.Transaction,
  { table, columns, rows }: Rows<Row>,
  ending: string,
): Promise<void> {
  const sql = `INSERT INTO ?? (${columns.map((column) => `\`${column}\``).join(", ")}) VALUES ?${ending}`;
  let before: Promise<unknown> = Promise.resolve();
  for (const list of inPortions(rows, columns)) {
    // Never two at a time: a server that ends a transaction, as it does in a deadlock, commits what comes after it.
    await before;
    before = transaction.raw(sql, [table, asBinding(raw(list))]).then();
    // It is awaited above or below; until then its failure is no one's.
    before.catch(() => {});
    // It is sent now, and the next portion is put into words while the server is busy with it.
    await setImmediate();
  }
  await before;
}

/**
 * The rows as text, `(1, 'a'), (2, 'b')`. The driver could produce it too, but from arrays that the query builder
 * traverses once more: that takes twice the CPU time, and a mailing writes a row for each mail.
 */
function* inPortions<Row>(rows: readonly Row[], columns: readonly (keyof Row & string)[]): Generator<string> {
  const toDateLiteral = createDateLiterals();
  let portion: string[] = [];
  let length = 0;
  for (const row of rows) {
    const values = columns.map((column) => toLiteral(row[column], toDateLiteral)).join(", ");
    if (portion.length > 0 && length + values.length > maxStatementLength) {
      yield `(${portion.join("), (")})`;
      portion = [];
      length = 0;
    }
    portion.push(values);
    length += values.length;
  }
  if (portion.length > 0) yield `(${portion.join("), (")})`;
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
