import type { Knex } from "knex";
import { asBinding } from "./database.ts";

/** Well below `max_allowed_packet`, which is 16 MB by default on MariaDB: a longer statement costs the connection. */
const maxStatementBytes = 2_000_000;

export type Rows<Row> = {
  readonly table: string;
  readonly columns: readonly (keyof Row & string)[];
  readonly rows: readonly Row[];
};

/** Inserts rows in as few statements as the server takes. A row that is there already is an error. */
export async function insertRows<Row>(transaction: Knex.Transaction, rows: Rows<Row>): Promise<void> {
  await write(transaction, rows, "");
}

/** Inserts rows, or overwrites every column of those that are there. */
export async function putRows<Row>(transaction: Knex.Transaction, rows: Rows<Row>): Promise<void> {
  // VALUES() is deprecated in MySQL, but what replaces it is a syntax error in MariaDB.
  const updates = rows.columns.map((column) => `\`${column}\` = VALUES(\`${column}\`)`);
  await write(transaction, rows, ` ON DUPLICATE KEY UPDATE ${updates.join(", ")}`);
}

async function write<Row>(
  transaction: Knex.Transaction,
  { table, columns, rows }: Rows<Row>,
  ending: string,
): Promise<void> {
  const sql = `INSERT INTO ?? (${columns.map((column) => `\`${column}\``).join(", ")}) VALUES ?${ending}`;
  for (const portion of inPortions(rows, columns)) {
    await transaction.raw(sql, [table, asBinding(portion)]);
  }
}

function* inPortions<Row>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
): Generator<readonly (readonly unknown[])[]> {
  let portion: unknown[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const values = columns.map((column) => row[column]);
    const size = values.reduce((sum: number, value) => sum + sizeOf(value), 0);
    if (portion.length > 0 && bytes + size > maxStatementBytes) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(values);
    bytes += size;
  }
  if (portion.length > 0) yield portion;
}

/** About what a value takes in a statement: bytes are written as hexadecimal digits. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 4;
  return value instanceof Uint8Array ? value.length * 2 + 4 : 26;
}
