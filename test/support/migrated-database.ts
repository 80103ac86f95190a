import mysql, { type Connection, type RowDataPacket } from "mysql2/promise";
import { allProjectors } from "../../projections/all-projectors.ts";
import { migrate } from "../../projections/migrate.ts";
import { createDatabase } from "../../src/database/database.ts";
import { outcomesProjector } from "./outcomes-projector.ts";
import { freshDatabase, type TestDatabase } from "./services.ts";

/** What a migration leaves behind: its tables and views, and the rows that some of them begin with. */
type Schema = {
  readonly statements: readonly string[];
  readonly rows: readonly { readonly table: string; readonly values: readonly unknown[][] }[];
};

let schema: Promise<Schema> | null = null;

/**
 * A database on the shared server with all tables of the read side: `drop` it in `after`. The first of a process is
 * migrated. The others are copied from it, because a migration asks more than a hundred times, and hundreds of tests
 * begin with one.
 */
export async function migratedDatabase(): Promise<TestDatabase> {
  const database = await freshDatabase();
  if (schema === null) {
    schema = migrateAndRead(database.url);
    await schema.catch((failure: unknown) => {
      schema = null;
      throw failure;
    });
  } else {
    const { statements, rows } = await schema;
    await connected(database.url, async (connection) => {
      await connection.query(statements.join(";\n"));
      for (const { table, values } of rows) await connection.query(`INSERT INTO ${table} VALUES ?`, [values]);
    });
  }
  return database;
}

async function migrateAndRead(url: string): Promise<Schema> {
  const db = createDatabase(url);
  try {
    await migrate(db, [...allProjectors, outcomesProjector]);
  } finally {
    await db.destroy();
  }
  return await connected(url, readSchema);
}

async function readSchema(connection: Connection): Promise<Schema> {
  const [found] = await connection.query<RowDataPacket[]>({ sql: "SHOW FULL TABLES", rowsAsArray: true });
  const kinds = found as unknown as readonly (readonly [name: string, kind: string])[];
  const [tables, views] = ["BASE TABLE", "VIEW"].map((wanted) =>
    kinds.flatMap(([name, kind]) => (kind === wanted ? [name] : [])),
  ) as [string[], string[]];
  const statements: string[] = [];
  const rows: Schema["rows"][number][] = [];
  const read = async (sql: string) => (await connection.query({ sql, rowsAsArray: true }))[0] as string[][];
  // A view needs its tables.
  for (const name of [...tables, ...views]) statements.push((await read(`SHOW CREATE TABLE ${name}`))[0]?.[1] ?? "");
  for (const table of tables) {
    const values = await read(`SELECT * FROM ${table}`);
    if (values.length > 0) rows.push({ table, values });
  }
  return { statements, rows };
}

async function connected<Result>(url: string, use: (connection: Connection) => Promise<Result>): Promise<Result> {
  const connection = await mysql.createConnection({ uri: url, multipleStatements: true, dateStrings: true });
  try {
    return await use(connection);
  } finally {
    await connection.end();
  }
}
