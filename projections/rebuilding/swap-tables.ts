import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import { isServerError } from "../../src/database/database-failure.ts";
import type { HeldLock } from "../../src/database/database-lock.ts";
import type { Projector, Suffix } from "../projector.ts";
import { dropTables, existing, foundTables, liveCheckpoint, tableNames, viewStatements } from "./table-set.ts";

/** While the rename waits for a long query to end, every later query waits as well. */
const waitForQueriesSeconds = 2;
const tries = 15;
const pauseMs = 1_000;

/**
 * Renames the tables of a suffix to the live names, and the live tables to another suffix. It is one statement, so
 * readers see the old rows with their checkpoint or the new ones with theirs, and so does a process that starts after a
 * crash. Tables that an earlier rebuild has kept are renamed to be dropped. A missing live table, which was dropped by
 * hand, is not renamed. A table that only the other release has goes with the others: it is not written any more, and an
 * erasure would not reach it. Returns whether any tables are kept.
 *
 * Changes nothing once the lock on the live tables is lost: another process may have written them since.
 */
export async function swapTables(
  db: Knex,
  projector: Projector,
  from: "__next" | "__previous",
  keepAs: "__previous" | "__dropped",
  lock: Pick<HeldLock, "ask">,
): Promise<boolean> {
  const found = await foundTables(db, projector);
  const namesIn = (suffix: Suffix): ReadonlySet<string> =>
    new Set((found.get(suffix) ?? []).map((name) => name.slice(0, name.length - suffix.length)));
  const [ours, live, kept] = [new Set(tableNames(projector, "")), namesIn(""), namesIn("__previous")];
  const isPutBack = from === "__previous";
  // Both would get the same name.
  if (keepAs === "__dropped" && !isPutBack) await dropTables(db, projector, "__previous");
  const moves = [...new Set([...ours, ...live, ...kept])].flatMap((name) => {
    if (isPutBack) {
      const aside = live.has(name) ? [to(name, `${name}__dropped`)] : [];
      const back = ours.has(name) || kept.has(name) ? [to(`${name}__previous`, name)] : [];
      const again = live.has(name) && keepAs === "__previous" ? [to(`${name}__dropped`, `${name}__previous`)] : [];
      return [...aside, ...back, ...again];
    }
    const old = kept.has(name) && keepAs === "__previous" ? [to(`${name}__previous`, `${name}__dropped`)] : [];
    const aside = live.has(name) ? [to(name, name + keepAs)] : [];
    return [...old, ...aside, ...(ours.has(name) ? [to(`${name}__next`, name)] : [])];
  });
  const views = (await isOfOtherVersion(db, projector)) ? await existing(db, Object.keys(projector.views)) : [];
  moves.push(...views.map((name) => to(name, `${name}__dropped`)));
  await lock.ask("SET SESSION lock_wait_timeout = ?", [waitForQueriesSeconds]);
  await patiently(lock, `RENAME TABLE ${moves.join(", ")}`);
  // Views refer to the names of tables and not to the renamed tables, so they continue to work. Another version may show
  // more: a start after a crash sees that its views are missing.
  for (const statement of viewStatements(projector)) await patiently(lock, statement);
  return keepAs === "__previous" && live.size > 0;
}

async function isOfOtherVersion(db: Knex, projector: Projector): Promise<boolean> {
  const live = await liveCheckpoint(db, projector);
  return live !== null && live.version !== projector.version;
}

const to = (name: string, other: string): string => `\`${name}\` TO \`${other}\``;

async function patiently(lock: Pick<HeldLock, "ask">, sql: string): Promise<void> {
  for (let left = tries; ; left -= 1) {
    try {
      await lock.ask(sql);
      return;
    } catch (failure) {
      if (left === 0 || !isServerError(failure, "lockWaitTimeout")) throw failure;
      await pause(pauseMs);
    }
  }
}
