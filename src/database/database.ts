import { connect, type Socket } from "node:net";
import knex, { type Knex } from "knex";
import { type Connection, type ConnectionOptions, createConnection } from "mysql2";

const connectTimeoutMs = 5_000;
/** Not shorter than any query of ours takes; a frozen server is found out after so long. */
const defaultSilenceMs = 10_000;

export type DatabaseOptions = {
  /** A connection on which nothing came or went for so long is given up. Longer for what rewrites whole tables. */
  readonly silenceMs?: number;
  /** The server itself ends a query that takes longer, also one that nobody waits for any more. Without: none. */
  readonly statementMs?: number;
  /** At most at a time; those who find none free wait for one up to `acquireMs`. */
  readonly connections?: number;
  readonly acquireMs?: number;
  /** Once it aborts every connection is given up, queries in flight fail, and so does each one from then on. */
  readonly givenUp?: AbortSignal;
};

/** For what is answered at once: the server gives up just before the client is told that there is no answer. */
export const readingOptions: DatabaseOptions = { statementMs: 4_500 };

/** For searches and exports, which may keep each other waiting and nothing else. */
export const searchingOptions: DatabaseOptions = { statementMs: 4_500, connections: 3, acquireMs: 1_500 };

/** Queries of ours mean the same on every server, whatever its administrator has set. */
const sessionSettings = [
  "SET SESSION time_zone = '+00:00'",
  "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
];

/**
 * A pool of connections to `mysql://user:password@host:port/database`, MariaDB or MySQL. It connects when first asked
 * and heals by itself. While the server is away queries fail at once, and not when the pool has waited for it: those
 * who can wait know how long. Call `destroy()` at the end.
 */
export function createDatabase(url: string, options: DatabaseOptions = {}): Knex {
  const { silenceMs = defaultSilenceMs, statementMs, connections = 10, acquireMs = connectTimeoutMs } = options;
  const open = createSockets(silenceMs, options.givenUp);
  const db = knex({
    client: "mysql2",
    compileSqlOnError: false,
    connection: {
      uri: url,
      charset: "utf8mb4",
      timezone: "Z",
      supportBigNumbers: true,
      connectTimeout: connectTimeoutMs,
      // Of each connection; those used last are kept. A server has 16,382 of them by default, for everybody together.
      maxPreparedStatements: 100,
      stream: ({ config }: { config: { host: string; port: number } }) => open(config),
    },
    // Idle connections go before they count as silent.
    pool: {
      min: 0,
      max: connections,
      acquireTimeoutMillis: acquireMs,
      idleTimeoutMillis: silenceMs / 2,
      afterCreate: prepareSession(statementMs),
    },
    // Whatever goes wrong also reaches whoever asked, and is logged there with what it was for.
    log: { warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {} },
  });
  db.client.driver = { createConnection: (options: ConnectionOptions) => keepListening(createConnection(options)) };
  db.on("query-error", forgetStatement);
  return db;
}

/**
 * knex removes all listeners of a connection that it ends, also its own for errors; but the socket lives until the
 * server has closed it too, and its timer or a broken pipe may still end it with an error. An error event without a
 * listener ends the process. Queries in flight get the failure through their callbacks, so nothing is hidden here.
 */
function keepListening(connection: Connection): Connection {
  const listen = (): Connection => connection.on("error", () => {});
  const removeAllListeners = connection.removeAllListeners.bind(connection);
  connection.removeAllListeners = (event) => {
    removeAllListeners(event);
    return listen();
  };
  return listen();
}

/** Errors end up in logs, and a statement that was sent holds subjects, bodies and addresses. */
function forgetStatement(failure: Error & { sql?: string }): void {
  delete failure.sql;
}

/**
 * The driver waits for ever for a server that is frozen or cut off, and its own time limit leaves the connection in
 * use. Destroying the socket makes the query fail and the pool forget the connection.
 */
function createSockets(silenceMs: number, givenUp: AbortSignal | undefined) {
  const sockets = new Set<Socket>();
  const giveUp = (socket: Socket): unknown => socket.destroy(new DatabaseGivenUp());
  givenUp?.addEventListener("abort", () => sockets.forEach(giveUp), { once: true });
  return ({ host, port }: { host: string; port: number }): Socket => {
    const socket = connect({ host, port, noDelay: true, keepAlive: true });
    socket.setTimeout(silenceMs, () => socket.destroy(new DatabaseSilent(silenceMs)));
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    if (givenUp?.aborted) giveUp(socket);
    return socket;
  };
}

/** The process stops, and has waited for the database for as long as it may. */
class DatabaseGivenUp extends Error {
  override readonly name = "DatabaseGivenUp";

  constructor() {
    super("The process is stopping, and does not wait for the database any longer.");
  }
}

/** The server did not answer in time; the connection was given up, and whether a statement took effect is unknown. */
class DatabaseSilent extends Error {
  override readonly name = "DatabaseSilent";

  constructor(silenceMs: number) {
    super(`The database said nothing for ${silenceMs} ms.`);
  }
}

const prepareSession =
  (statementMs: number | undefined) =>
  (connection: Connection, done: (failure: unknown, connection: Connection) => void): void => {
    const settings = sessionSettings.map((sql) => ask(connection, sql));
    const limit = statementMs === undefined ? [] : [limitStatements(connection, statementMs)];
    Promise.all([...settings, ...limit]).then(
      () => done(null, connection),
      (failure) => done(failure, connection),
    );
  };

/** MariaDB counts seconds and limits every statement, MySQL milliseconds and SELECT alone. */
async function limitStatements(connection: Connection, withinMs: number): Promise<void> {
  const [{ version } = { version: "" }] = await ask<{ version: string }>(connection, "SELECT VERSION() AS version");
  const setting = /mariadb/i.test(version)
    ? `max_statement_time = ${withinMs / 1000}`
    : `max_execution_time = ${withinMs}`;
  await ask(connection, `SET SESSION ${setting}`);
}

/** knex's types know neither lists nor rows as one binding; the driver writes them out as `IN (?)` and `VALUES ?` need it. */
export const asBinding = (values: unknown): Knex.RawBinding => values as Knex.RawBinding;

/** A connection outside the pool, for what belongs to a connection, as locks do. It is the caller's to end. */
export const openConnection = (db: Knex): Promise<Connection> => db.client.acquireRawConnection();

/** Ends a connection at once. What was asked on it fails, where the driver's own `destroy` leaves it unanswered. */
export function abandonConnection(connection: Connection): void {
  const { stream } = connection as Connection & { readonly stream: Socket };
  stream.destroy(new Error("The connection was given up."));
}

/** One statement on a connection of one's own. */
export function ask<Row>(connection: Connection, sql: string, bindings: readonly unknown[] = []): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    connection.query(sql, [...bindings], (failure, rows) => (failure ? reject(failure) : resolve(rows as Row[])));
  });
}

/**
 * Commits what the work did, or nothing. Throws what the work threw, which the driver would hide behind its own
 * complaint where the connection was lost with it.
 */
export async function inTransaction<Result>(
  db: Knex,
  work: (transaction: Knex.Transaction) => Promise<Result>,
): Promise<Result> {
  let failure: { readonly cause: unknown } | null = null;
  try {
    return await db.transaction(async (transaction) => {
      try {
        return await work(transaction);
      } catch (cause) {
        failure = { cause };
        throw cause;
      }
    });
  } catch (other) {
    throw (failure as { readonly cause: unknown } | null)?.cause ?? other;
  }
}
