import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type { Connection } from "mysql2";
import { ask, openConnection } from "./database.ts";
import type { Projector } from "./projector.ts";
import { existing, tableNames, viewStatements } from "./table-set.ts";

/** While the rename waits for a long query to end, every query that comes after it waits as well. */
const waitForQueriesSeconds = 2;
const tries = 15;
const pauseMs = 1_000;

const lockWaitTimeout = 1205;

/**
 * Puts the tables of a rebuild in the place of the live ones, which are kept under another name. It is one statement,
 * so readers see the old rows with their checkpoint or the new ones with theirs, and so does whoever starts after a
 * crash. A live table that is not there, because somebody dropped it, is not put aside.
 */
export async function swapTables(db: Knex, projector: Projector): Promise<void> {
  const names = tableNames(projector, "");
  const live = new Set(await existing(db, names));
  const moves = names.flatMap((name) => [
    ...(live.has(name) ? [`\`${name}\` TO \`${name}__previous\``] : []),
    `\`${name}__next\` TO \`${name}\``,
  ]);
  const connection = await openConnection(db);
  try {
    await ask(connection, "SET SESSION lock_wait_timeout = ?", [waitForQueriesSeconds]);
    await patiently(connection, `RENAME TABLE ${moves.join(", ")}`);
    // Views name the tables and not what was renamed, so they go on as they are; another version may show more.
    for (const statement of viewStatements(projector)) await patiently(connection, statement);
  } finally {
    connection.end();
  }
}

async function patiently(connection: Connection, sql: string): Promise<void> {
  for (let left = tries; ; left -= 1) {
    try {
      await ask(connection, sql);
      return;
    } catch (failure) {
      if (left === 0 || (failure as { errno?: unknown }).errno !== lockWaitTimeout) throw failure;
      await pause(pauseMs);
    }
  }
}
