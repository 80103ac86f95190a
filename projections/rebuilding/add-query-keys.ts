import type { Knex } from "knex";
import type { Connection } from "mysql2";
import { abandonConnection, openConnection, waitWithoutLimit } from "../../src/database/database.ts";
import { isServerError } from "../../src/database/database-failure.ts";
import { ask } from "../../src/database/session.ts";
import type { Projector, Suffix } from "../projector.ts";
import { queryKeysOf } from "./table-set.ts";

/**
 * Adds the keys of queries that tables of a suffix lack, and returns whether any did; calls `onKeys` before. The server
 * sorts all rows of a table at once, which is faster than an entry for each row while the table is filled, and the more so
 * the larger the table is.
 *
 * The signal must abort where the server is lost: no silence ends this connection. The server goes on with what it has
 * begun then, and a later call finds it.
 */
export async function addQueryKeys(
  db: Knex,
  projector: Projector,
  { suffix, onKeys }: { readonly suffix: Suffix; readonly onKeys: () => void },
  signal: AbortSignal,
): Promise<boolean> {
  if (projector.queryKeys === undefined) return false;
  const connection = await openConnection(db);
  const giveUp = (): void => abandonConnection(connection);
  signal.addEventListener("abort", giveUp);
  waitWithoutLimit(connection);
  try {
    signal.throwIfAborted();
    // At its end it waits for those who read the table meanwhile, such as a backup: it would have to sort again.
    await ask(connection, "SET SESSION lock_wait_timeout = DEFAULT");
    const missing = await missingKeys(connection, projector, suffix);
    if (missing.length > 0) onKeys();
    for (const [table, keys] of missing) await addKeys(connection, table, keys);
    return missing.length > 0;
  } catch (failure) {
    signal.throwIfAborted();
    throw failure;
  } finally {
    signal.removeEventListener("abort", giveUp);
    giveUp();
  }
}

type Missing = readonly (readonly [table: string, definitions: readonly string[]])[];

async function missingKeys(connection: Connection, projector: Projector, suffix: Suffix): Promise<Missing> {
  const sql =
    "SELECT index_name AS name FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = ?";
  const missing: [string, readonly string[]][] = [];
  for (const name of Object.keys(projector.queryKeys ?? {})) {
    const found = new Set((await ask<{ name: string }>(connection, sql, [name + suffix])).map((key) => key.name));
    const keys = queryKeysOf(projector, name).filter((key) => !found.has(key.name));
    if (keys.length > 0) missing.push([name + suffix, keys.map(({ definition }) => definition)]);
  }
  return missing;
}

/** Where a process that is gone has left the server at it, the server ends that first, and says then that the keys are there. */
async function addKeys(connection: Connection, table: string, keys: readonly string[]): Promise<void> {
  try {
    await ask(connection, `ALTER TABLE \`${table}\` ${keys.map((key) => `ADD ${key}`).join(", ")}`);
  } catch (failure) {
    if (!isServerError(failure, "duplicateKeyName")) throw failure;
  }
}
