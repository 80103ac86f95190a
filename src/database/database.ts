import { connect, type Socket } from "node:net";
import knex, { type Knex } from "knex";
import { type Connection, type ConnectionOptions, createConnection } from "mysql2";
import { prepareSession, type SessionLimits, sessionMsFor } from "./session.ts";

const connectTimeoutMs = 5_000;
/** At least as long as any query of the service takes; a frozen server is detected after this time. */
const defaultSilenceMs = 10_000;
/**
 * A busy connection would stay for months with the server that the name of the database once stood for, also after another
 * one has taken over and that one only reads.
 */
const defaultLongestMs = 300_000;

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
  /** A connection is used for no longer than this, except for what began before. */
  readonly longestMs?: number;
  /** Once it aborts, every connection is given up, queries in flight fail, and so does every later one. */
  readonly givenUp?: AbortSignal;
};

/** For interactive queries: the server ends the query just before the client gets the answer that there is none. */
export const readingOptions: DatabaseOptions = { statementMs: 4_500 };

/** For searches and exports, which may delay each other and nothing else. */
export const searchingOptions: DatabaseOptions = { statementMs: 4_500, connections: 3, acquireMs: 1_500 };

/**
 * A pool of connections to `mysql://user:password@host:port/database`, MariaDB or MySQL. It connects at the first query
 * and recovers without help. While the server is away, queries fail at once instead of waiting for it: a caller that
 * can wait knows for how long. Call `destroy()` at the end.
 */
export function createDatabase(url: string, options: DatabaseOptions = {}): Knex {
  const { silenceMs = defaultSilenceMs, statementMs, connections = 10, acquireMs = connectTimeoutMs } = options;
  const { longestMs = defaultLongestMs } = options;
  const limits = { sessionMs: sessionMsFor(silenceMs), statementMs };
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
      stream: ({ config }: { config: Place }) => open(config),
    },
    // Idle connections are closed before they count as silent, here or on the server; but none that is used every few seconds.
    pool: {
      min: 0,
      max: connections,
      acquireTimeoutMillis: acquireMs,
      maxConnectionLifetimeMillis: longestMs,
      idleTimeoutMillis: Math.min(silenceMs, limits.sessionMs) * 0.8,
      afterCreate: preparing(limits),
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

type Place = { readonly host: string; readonly port: number };

/** The one to the server, by the settings of its connection: over TLS the driver has another one, whose silence this one shares. */
const socketsOf = new WeakMap<object, Socket>();

/**
 * The driver waits forever for a server that is frozen or cut off, and its own time limit leaves the connection in use.
 * Destroying the socket makes the query fail and the pool drop the connection.
 */
function createSockets(silenceMs: number, givenUp: AbortSignal | undefined) {
  const sockets = new Set<Socket>();
  const giveUp = (socket: Socket): unknown => socket.destroy(new DatabaseGivenUp());
  givenUp?.addEventListener("abort", () => sockets.forEach(giveUp), { once: true });
  return (place: Place): Socket => {
    const { host, port } = place;
    const socket = connect({ host, port, noDelay: true, keepAlive: true });
    socketsOf.set(place, socket);
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

const preparing =
  (limits: SessionLimits) =>
  (connection: Connection, done: (failure: unknown, connection: Connection) => void): void => {
    prepareSession(connection, limits).then(
      () => done(null, connection),
      (failure) => done(failure, connection),
    );
  };

/**
 * knex's types allow neither lists nor rows as one binding; the driver expands them as `IN (?)` and `VALUES ?` need.
 */
export const asBinding = (values: unknown): Knex.RawBinding => values as Knex.RawBinding;

/**
 * A connection outside the pool, for state that belongs to a connection, such as locks and snapshots. The caller ends it;
 * the server does after 20 seconds without a statement, as the caller may have frozen.
 */
export async function openConnection(db: Knex): Promise<Connection> {
  const connection: Connection = await db.client.acquireRawConnection();
  try {
    await prepareSession(connection, { sessionMs: sessionMsFor(defaultSilenceMs) });
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

const socketOf = (connection: Connection): Socket => (connection as Connection & { readonly stream: Socket }).stream;

/** For a statement that takes the longer the larger a table is: its caller learns otherwise that the server is frozen. */
export function waitWithoutLimit(connection: Connection): void {
  socketsOf.get(connection.config)?.setTimeout(0);
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
