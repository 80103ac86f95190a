import type { Knex } from "knex";
import type { Connection } from "mysql2";

export type Statement = { readonly sql: string; readonly bindings: readonly (string | number | Date | null)[] };

/**
 * Asks what is asked again and again: each connection of the pool has the server read the statement once, and rows come
 * in the binary form, past the query builder. Each text takes memory on the server: what comes from outside belongs into
 * the bindings.
 */
export async function askPrepared<Row>(db: Knex, statement: Statement): Promise<Row[]> {
  const connection: Connection = await db.client.acquireConnection();
  try {
    return await execute<Row>(connection, statement);
  } finally {
    // What lost its connection is found out when somebody takes it from the pool again.
    await db.client.releaseConnection(connection);
  }
}

function execute<Row>(connection: Connection, { sql, bindings }: Statement): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    connection.execute(sql, [...bindings], (failure, rows) => {
      if (failure === null) return resolve(rows as Row[]);
      // Errors end up in logs. This one holds no values, and is all the same left as short as the pool's others.
      delete (failure as { sql?: string }).sql;
      reject(failure);
    });
  });
}
