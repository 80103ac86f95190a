import { connect, type Socket } from "node:net";
import knex, { type Knex } from "knex";
import { type Connection, type ConnectionOptions, createConnection } from "mysql2";

const connectTimeoutMs = 5_000;
/** At least as long as any query of the service takes; a frozen server is detected after this time. */
const defaultSilenceMs = 10_000;

export type DatabaseOptions = {
  /**
   * A connection without any traffic for this long is given up. Set it higher for statements that rewrite whole tables.
   */
  readonly silenceMs?: number;
  /** The server ends a query that takes longer, even if the client no longer waits for it. Default: no limit. */
  readonly statementMs?: number;
  /** The most connections at a time; a query that finds none free waits up to `acquireMs`. */
  readonly connections?: number;
  readonly acquireMs?: number;
  /** Once it aborts, every connection is given up, queries in flight fail, and so does every later one. */
  readonly givenUp?: AbortSignal;
};

/** For interactive queries: the server ends the query just before the client gets the answer that there is none. */
export const readingOptions: DatabaseOptions = { statementMs: 4_500 };

/** For searches and exports, which may delay each other and nothing else. */
export const searchingOptions: DatabaseOptions = { statementMs: 4_500, connections: 3, acquireMs: 1_500 };

/**
 * Makes the service's queries mean the same on every server, whatever its administrator has set. A server can disregard
 * the character set that the driver asks for; the collation here is the one that the driver gets otherwise. Without
 * autocommit, all that is written outside a transaction is lost. MariaDB's limit would end the statement that adds the
 * keys to a large table; MySQL reads it as a comment, and its own limit concerns SELECT alone.
 */
const sessionSettings = [
  "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",
  "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
  "SET SESSION time_zone = '+00:00'",
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
  "SET SESSION autocommit = 1 /*M!, SESSION max_statement_time = 0 */",
];

/**
 * How long the server keeps the session of a client that says nothing: by default 8 hours, and with it the row locks of a
 * process that froze in a transaction, so that no other process could take its place. Twice as long as the client bears
 * silence itself, so it ends no session that a client still uses. Where the client bears more, because it waits for
 * long statements, this is the longest that it can spend in a transaction without a statement: a rebuild reads up to
 * 10,000 contents there, 20 at a time.
 */
const sessionMsFor = (silenceMs: number): number => Math.min(2 * silenceMs, 300_000);

/**
 * A pool of connections to `mysql://user:password@host:port/database`, MariaDB or MySQL. It connects at the first query
 * and recovers without help. While the server is away, queries fail at once instead of waiting for it: a caller that
 * can wait knows for how long. Call `destroy()` at the end.
 */
export function createDatabase(url: string, options: DatabaseOptions = {}): Knex {
  const { silenceMs = defaultSilenceMs, statementMs, connections = 10, acquireMs = connectTimeoutMs } = options;
  const sessionMs = sessionMsFor(silenceMs);
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
      // Per connection; the most recently used are kept. A server has 16,382 of them by default, for all its clients
      // together.
      maxPreparedStatements: 100,
      stream: ({ config }: { config: { host: string; port: number } }) => open(config),
    },
    // Idle connections are closed before they count as silent, here or on the server; but none that is used every few seconds.
    pool: {
      min: 0,
      max: connections,
      acquireTimeoutMillis: acquireMs,
      idleTimeoutMillis: Math.min(silenceMs, sessionMs) * 0.8,
      afterCreate: prepareSession(sessionMs, statementMs),
    },
    // Every failure also reaches the caller, which logs it with its context.
    log: { warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {} },
  });
  db.client.driver = { createConnection: (options: ConnectionOptions) => keepListening(createConnection(options)) };
  db.on("query-error", forgetStatement);
  return db;
}

/**
 * knex removes all listeners of a connection that it ends, including its own for errors; but the socket lives until the
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

/** Errors end up in logs, and the SQL that was sent contains subjects, bodies and addresses. */
function forgetStatement(failure: Error & { sql?: string }): void {
  delete failure.sql;
}

/**
 * The driver waits forever for a server that is frozen or cut off, and its own time limit leaves the connection in use.
 * Destroying the socket makes the query fail and the pool drop the connection.
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
  (sessionMs: number, statementMs: number | undefined) =>
  (connection: Connection, done: (failure: unknown, connection: Connection) => void): void => {
    const settings = applySettings(connection);
    const patience = ask(connection, "SET SESSION wait_timeout = ?", [Math.ceil(sessionMs / 1000)]);
    const limit = statementMs === undefined ? null : limitStatements(connection, statementMs);
    Promise.all([settings, patience, limit]).then(
      () => done(null, connection),
      (failure) => done(failure, connection),
    );
  };

const applySettings = (connection: Connection): Promise<unknown> =>
  Promise.all(sessionSettings.map((sql) => ask(connection, sql)));

/** MariaDB takes seconds and limits every statement; MySQL takes milliseconds and limits only SELECT. */
async function limitStatements(connection: Connection, withinMs: number): Promise<void> {
  const [{ version } = { version: "" }] = await ask<{ version: string }>(connection, "SELECT VERSION() AS version");
  const setting = /mariadb/i.test(version)
    ? `max_statement_time = ${withinMs / 1000}`
    : `max_execution_time = ${withinMs}`;
  await ask(connection, `SET SESSION ${setting}`);
}

/**
 * knex's types allow neither lists nor rows as one binding; the driver expands them as `IN (?)` and `VALUES ?` need.
 */
export const asBinding = (values: unknown): Knex.RawBinding => values as Knex.RawBinding;

/**
 * A connection outside the pool, for state that belongs to a connection, such as locks. The caller ends it. It has no limit
 * on its silence but that of the server.
 */
export async function openConnection(db: Knex): Promise<Connection> {
  const connection: Connection = await db.client.acquireRawConnection();
  try {
    await applySettings(connection);
    return connection;
  } catch (failure) {
    abandonConnection(connection);
    throw failure;
  }
}

/** Ends a connection at once. Its pending queries fail; the driver's own `destroy` leaves them unanswered. */
export function abandonConnection(connection: Connection): void {
  socketOf(connection).destroy(new Error("The connection was given up."));
}

/** For a statement that takes the longer the larger a table is: its caller learns otherwise that the server is frozen. */
export function waitWithoutLimit(connection: Connection): void {
  socketOf(connection).setTimeout(0);
}

const socketOf = (connection: Connection): Socket => (connection as Connection & { readonly stream: Socket }).stream;

/** One statement on a connection of one's own. */
export function ask<Row>(connection: Connection, sql: string, bindings: readonly unknown[] = []): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    connection.query(sql, [...bindings], (failure, rows) => (failure ? reject(failure) : resolve(rows as Row[])));
  });
}

/**
 * Commits everything that the work did, or nothing. Throws the failure of the work, which the driver would hide behind
 * its own error if the connection was lost as well.
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
