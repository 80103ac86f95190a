import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type { Connection } from "mysql2";
import { openConnection } from "../../src/database/database.ts";
import { ask } from "../../src/database/session.ts";
import type { Projector } from "../projector.ts";
import { dropTables, existing, liveCheckpoint, tableNames, viewStatements } from "./table-set.ts";

/** While the rename waits for a long query to end, every later query waits as well. */
const waitForQueriesSeconds = 2;
const tries = 15;
const pauseMs = 1_000;

const lockWaitTimeout = 1205;

/**
 * Renames the tables of a suffix to the live names, and the live tables to another suffix. It is one statement, so
 * readers see the old rows with their checkpoint or the new ones with theirs, and so does a process that starts after a
 * crash. Tables that an earlier rebuild has kept are renamed to be dropped. A missing live table, which was dropped by
 * hand, is not renamed. Returns whether any tables are kept.
 */
export async function swapTables(
  db: Knex,
  projector: Projector,
  from: "__next" | "__previous",
  keepAs: "__previous" | "__dropped",
): Promise<boolean> {
  const names = tableNames(projector, "");
  const found = new Set(await existing(db, [...names, ...names.map((name) => `${name}__previous`)]));
  const isPutBack = from === "__previous";
  // Both would get the same name.
  if (keepAs === "__dropped" && !isPutBack) await dropTables(db, projector, "__previous");
  const moves = names.flatMap((name) => {
    const isLive = found.has(name);
    if (isPutBack) {
      const aside = isLive ? [to(name, `${name}__dropped`)] : [];
      const kept = isLive && keepAs === "__previous" ? [to(`${name}__dropped`, `${name}__previous`)] : [];
      return [...aside, to(`${name}__previous`, name), ...kept];
    }
    const isReplaced = keepAs === "__previous" && found.has(`${name}__previous`);
    const old = isReplaced ? [to(`${name}__previous`, `${name}__dropped`)] : [];
    return [...old, ...(isLive ? [to(name, name + keepAs)] : []), to(`${name}__next`, name)];
  });
  const views = (await isOfOtherVersion(db, projector)) ? await existing(db, Object.keys(projector.views)) : [];
  moves.push(...views.map((name) => to(name, `${name}__dropped`)));
  const connection = await openConnection(db);
  try {
    await ask(connection, "SET SESSION lock_wait_timeout = ?", [waitForQueriesSeconds]);
    await patiently(connection, `RENAME TABLE ${moves.join(", ")}`);
    // Views refer to the names of tables and not to the renamed tables, so they continue to work. Another version may show
    // more: a start after a crash sees that its views are missing.
    for (const statement of viewStatements(projector)) await patiently(connection, statement);
  } finally {
    connection.end();
  }
  return keepAs === "__previous" && names.some((name) => found.has(name));
}

async function isOfOtherVersion(db: Knex, projector: Projector): Promise<boolean> {
  const live = await liveCheckpoint(db, projector);
  return live !== null && live.version !== projector.version;
}

const to = (name: string, other: string): string => `\`${name}\` TO \`${other}\``;

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
