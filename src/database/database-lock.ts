import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type { Connection } from "mysql2";
import { abandonConnection, openConnection } from "./database.ts";
import { ask } from "./session.ts";

/** How soon a holder notices that it has lost its lock, or that another process requests it. */
const beatMs = 1000;
/** The server detects a stopped holder, or one whose host vanished, after this long without a heartbeat. */
const holderSilenceSeconds = 10;

/** The names include the database: the locks themselves belong to the whole server. They have at most 64 characters. */
const lockName = "CONCAT('waybill-', LEFT(SHA2(CONCAT(DATABASE(), '/', ?), 256), 48))";

export type HeldLock = {
  /** Aborts when the lock is lost, or when it should be given up because another process requests it. */
  readonly over: AbortSignal;
  /** A statement that takes no effect once the lock is lost: it goes over the connection that holds it. */
  ask(sql: string, bindings?: readonly unknown[]): Promise<unknown>;
  /** The server learns of it a moment later. */
  release(): void;
};

export type LockRequest = {
  readonly name: string;
  /**
   * The name of a lock that a process takes first to request this one: while that is taken, this lock is not taken, or
   * is given up.
   */
  readonly yieldTo?: string;
};

/**
 * A lock of the server (GET_LOCK) on a connection of its own, so that it ends with its holder however that ends. It
 * only keeps other processes from doing useless work: a holder can lose it without noticing at once. The checkpoint
 * guards what must not happen twice.
 *
 * Waits up to `waitMs`, then returns null; returns null as well when the signal aborts.
 */
export async function takeLock(
  db: Knex,
  request: LockRequest,
  waitMs: number,
  signal: AbortSignal = new AbortController().signal,
): Promise<HeldLock | null> {
  const connection = await openConnection(db);
  const leave = (): void => abandonConnection(connection);
  signal.addEventListener("abort", leave, { once: true });
  let held: HeldLock | null = null;
  try {
    signal.throwIfAborted();
    await ask(connection, "SET SESSION wait_timeout = ?", [holderSilenceSeconds]);
    if (await waitForLock(connection, request, performance.now() + waitMs, signal)) held = hold(connection, request);
    return held;
  } catch (failure) {
    if (signal.aborted) return null;
    throw failure;
  } finally {
    signal.removeEventListener("abort", leave);
    if (held === null) abandonConnection(connection);
  }
}

async function waitForLock(
  connection: Connection,
  request: LockRequest,
  deadline: number,
  signal: AbortSignal,
): Promise<boolean> {
  do {
    const leftSeconds = Math.min(1, Math.max(0, (deadline - performance.now()) / 1000));
    if (await isWanted(connection, request)) {
      await pause(Math.min(beatMs, leftSeconds * 1000), undefined, { signal });
      continue;
    }
    const [row] = await ask<{ taken: number }>(connection, `SELECT GET_LOCK(${lockName}, ?) AS taken`, [
      request.name,
      leftSeconds,
    ]);
    if (row?.taken === 1) {
      if (!(await isWanted(connection, request))) return true;
      await ask(connection, `SELECT RELEASE_LOCK(${lockName})`, [request.name]);
    }
  } while (performance.now() < deadline);
  return false;
}

async function isWanted(connection: Connection, request: LockRequest): Promise<boolean> {
  const { sql, names } = wantedBy(request);
  const [row] = await ask<{ wanted: number }>(connection, `SELECT ${sql} AS wanted`, names);
  return row?.wanted !== 0;
}

/** Whether another process requests the lock, as an expression that is 0 or 1, and the names that it asks about. */
function wantedBy({ yieldTo }: LockRequest): { readonly sql: string; readonly names: readonly string[] } {
  if (yieldTo === undefined) return { sql: "0", names: [] };
  return { sql: `COALESCE(IS_FREE_LOCK(${lockName}), 0) <> 1`, names: [yieldTo] };
}

function hold(connection: Connection, request: LockRequest): HeldLock {
  const over = new AbortController();
  const released = new AbortController();
  const { sql: wanted, names } = wantedBy(request);
  // One statement: an idle process asks little else, and asks this for each of its locks.
  const question = `SELECT IS_USED_LOCK(${lockName}) = CONNECTION_ID() AS ours, ${wanted} AS wanted`;
  const isStillOurs = async (): Promise<boolean> => {
    const [row] = await ask<{ ours: number | null; wanted: number }>(connection, question, [request.name, ...names]);
    return row?.ours === 1 && row.wanted === 0;
  };
  const beat = async (): Promise<void> => {
    while (await isStillOurs()) await pause(beatMs, undefined, { signal: released.signal });
  };
  // A lost connection has lost the lock: this is the end of the lock, not a failure.
  beat()
    .catch(() => {})
    .finally(() => over.abort(new Error(`The lock ${request.name} was lost, or another process requested it.`)));
  return {
    over: over.signal,
    ask: (sql, bindings) => ask(connection, sql, bindings),
    release: () => {
      released.abort();
      connection.end();
    },
  };
}

/** Takes a lock on a connection that the caller ends, if no other session has it. */
export async function tryLock(connection: Connection, name: string): Promise<boolean> {
  const [row] = await ask<{ taken: number }>(connection, `SELECT GET_LOCK(${lockName}, 0) AS taken`, [name]);
  return row?.taken === 1;
}

export async function isLockFree(db: Knex, name: string): Promise<boolean> {
  const [rows] = (await db.raw(`SELECT IS_FREE_LOCK(${lockName}) AS free`, [name])) as [{ free: number }[]];
  return rows[0]?.free === 1;
}
