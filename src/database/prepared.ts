import type { Knex } from "knex";
import type { Connection } from "mysql2";

export type Statement = { readonly sql: string; readonly bindings: readonly (string | number | Date | null)[] };

/**
 * For statements that are repeated often: each connection of the pool has the server parse the statement once, and rows
 * come in the binary form, past the query builder. Each text takes memory on the server: pass external values only as
 * bindings.
 */
export async function askPrepared<Row>(db: Knex, statement: Statement): Promise<Row[]> {
  const connection: Connection = await db.client.acquireConnection();
  try {
    return await execute<Row>(connection, statement);
  } finally {
    // A lost connection is detected when it is next taken from the pool.
    await db.client.releaseConnection(connection);
  }
}

function execute<Row>(connection: Connection, { sql, bindings }: Statement): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    connection.execute(sql, [...bindings], (failure, rows) => {
      if (failure === null) return resolve(rows as Row[]);
      // Errors end up in logs. This one holds no values, but is kept as short as the pool's other errors.
      delete (failure as { sql?: string }).sql;
      reject(failure);
    });
  });
}
