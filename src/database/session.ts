import type { Connection } from "mysql2";

/** One statement on a connection. */
export function ask<Row>(connection: Connection, sql: string, bindings: readonly unknown[] = []): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    connection.query(sql, [...bindings], (failure, rows) => (failure ? reject(failure) : resolve(rows as Row[])));
  });
}

/**
 * Makes the service's queries mean the same on every server, whatever its administrator has set. A server can disregard
 * the character set that the driver asks for; the collation here is the one that the driver gets otherwise. Without
 * autocommit, all that is written outside a transaction is lost. MariaDB's limit would end the statement that adds the
 * keys to a large table; MySQL reads it as a comment, and its own limit concerns SELECT alone.
 *
 * A statement that changes a table waits for sessions that have read it in an open transaction, and every later reader
 * waits behind it. By default that lasts a day or a year; here it fails before the client gives its connection up.
 */
const sessionSettings = [
  "SET NAMES utf8mb4 COLLATE utf8mb4_general_ci",
  "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
  "SET SESSION time_zone = '+00:00'",
  "SET SESSION sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION'",
  "SET SESSION autocommit = 1 /*M!, SESSION max_statement_time = 0 */",
  "SET SESSION lock_wait_timeout = 5",
];

export type SessionLimits = {
  /** The server ends a session that says nothing for so long. */
  readonly sessionMs: number;
  /** The server ends a query that takes longer. */
  readonly statementMs?: number | undefined;
};

/**
 * How long the server keeps the session of a client that says nothing: by default 8 hours, and with it the row locks of a
 * process that froze in a transaction, so that no other process could take its place. Twice as long as the client bears
 * silence itself, so it ends no session that a client still uses. Where the client bears more, because it waits for
 * long statements, this is the longest that it can spend in a transaction without a statement: a rebuild reads up to
 * 10,000 contents there, 20 at a time.
 */
export const sessionMsFor = (silenceMs: number): number => Math.min(2 * silenceMs, 300_000);

export async function prepareSession(connection: Connection, { sessionMs, statementMs }: SessionLimits): Promise<void> {
  await Promise.all([
    ...sessionSettings.map((sql) => ask(connection, sql)),
    ask(connection, "SET SESSION wait_timeout = ?", [Math.ceil(sessionMs / 1000)]),
    statementMs === undefined ? null : limitStatements(connection, statementMs),
  ]);
}

/** MariaDB takes seconds and limits every statement; MySQL takes milliseconds and limits only SELECT. */
async function limitStatements(connection: Connection, withinMs: number): Promise<void> {
  const [{ version } = { version: "" }] = await ask<{ version: string }>(connection, "SELECT VERSION() AS version");
  const setting = /mariadb/i.test(version)
    ? `max_statement_time = ${withinMs / 1000}`
    : `max_execution_time = ${withinMs}`;
  await ask(connection, `SET SESSION ${setting}`);
}
