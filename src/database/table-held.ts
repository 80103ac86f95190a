import type { Knex } from "knex";
import { asBinding } from "./database.ts";
import { isServerError } from "./database-failure.ts";

/** A statement that changes a table has waited in vain for other sessions, which keep it open in a transaction. */
export class TableHeld extends Error {
  override readonly name = "TableHeld";
}

/** Does what changes a table. Throws TableHeld, which names the sessions that are in the way, as far as they are known. */
export async function onFreeTable<Result>(db: Knex, table: string, change: () => Promise<Result>): Promise<Result> {
  try {
    return await change();
  } catch (cause) {
    if (!isServerError(cause, "lockWaitTimeout")) throw cause;
    throw new TableHeld(`${table} is open in a transaction of another session. ${await sessionsOf(db, table)}`, {
      cause,
    });
  }
}

type Session = { readonly id: number; readonly user: string; readonly host: string | null; readonly seconds: number };

const shown = 5;

/** MySQL knows who holds a table. MariaDB does so with a plugin alone: its oldest transactions have to do. */
const holders = `
  SELECT DISTINCT thread.processlist_id AS id, thread.processlist_user AS user, thread.processlist_host AS host,
    thread.processlist_time AS seconds
  FROM performance_schema.metadata_locks AS held JOIN performance_schema.threads AS thread
    ON thread.thread_id = held.owner_thread_id
  WHERE held.object_schema = DATABASE() AND held.object_name = ? AND held.lock_status = 'GRANTED'
    AND thread.processlist_id <> CONNECTION_ID()
  ORDER BY seconds DESC LIMIT ${shown}`;
const transactions = `
  SELECT session.id AS id, session.user AS user, session.host AS host, session.time AS seconds
  FROM information_schema.innodb_trx AS trx JOIN information_schema.processlist AS session
    ON session.id = trx.trx_mysql_thread_id
  WHERE session.id <> CONNECTION_ID() ORDER BY session.db <=> DATABASE() DESC, trx.trx_started LIMIT ${shown}`;

async function sessionsOf(db: Knex, table: string): Promise<string> {
  const holding = await ask(db, holders, [table]);
  const [open, words] =
    holding.length > 0
      ? [holding, "It is"]
      : [await ask(db, transactions, []), "It may be one of those with a transaction:"];
  if (open.length === 0) return "Waybill's user may not see which: GRANT PROCESS ON *.* lets it.";
  return `${words} ${open.map(({ id, user, host, seconds }) => `${id} (${user}@${host}, ${seconds} s)`).join(", ")}.`;
}

/** None where this user may not see them. */
async function ask(db: Knex, sql: string, bindings: readonly string[]): Promise<readonly Session[]> {
  return await db.raw(sql, asBinding(bindings)).then(
    ([rows]) => rows as Session[],
    () => [],
  );
}
