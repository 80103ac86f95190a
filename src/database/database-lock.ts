import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type { Connection } from "mysql2";
import { abandonConnection, ask, openConnection } from "./database.ts";

const beatMs = 500;
/** A holder that was stopped, or whose host vanished, is found out by the server after so long without a beat. */
const holderSilenceSeconds = 10;

/** Names are for one database: the locks themselves are the whole server's. They have at most 64 characters. */
const lockName = "CONCAT('waybill-', LEFT(SHA2(CONCAT(DATABASE(), '/', ?), 256), 48))";

export type HeldLock = {
  /** Aborts when the lock is no longer held, or should be given up because somebody asks for it. */
  readonly over: AbortSignal;
  /** The server hears of it a moment later. */
  release(): void;
};

export type LockRequest = {
  readonly name: string;
  /** The name of a lock that whoever wants this one takes first: while it is taken, this one is left or given up. */
  readonly yieldTo?: string;
};

/**
 * A lock of the server's (GET_LOCK) on a connection of its own, so that it ends with its holder however that ends.
 * It keeps others from working in vain, and no more: a holder can lose it without noticing at once. What must not
 * happen twice is guarded by the checkpoint.
 *
 * Waits up to `waitMs`, then answers null; aborts with the signal, to null as well.
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
    if (await waitForLock(connection, request, Date.now() + waitMs, signal)) held = hold(connection, request);
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
    const leftSeconds = Math.min(1, Math.max(0, (deadline - Date.now()) / 1000));
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
  } while (Date.now() < deadline);
  return false;
}

async function isWanted(connection: Connection, { yieldTo }: LockRequest): Promise<boolean> {
  if (yieldTo === undefined) return false;
  const [row] = await ask<{ free: number }>(connection, `SELECT IS_FREE_LOCK(${lockName}) AS free`, [yieldTo]);
  return row?.free !== 1;
}

function hold(connection: Connection, request: LockRequest): HeldLock {
  const over = new AbortController();
  const released = new AbortController();
  const isStillOurs = async (): Promise<boolean> => {
    const sql = `SELECT IS_USED_LOCK(${lockName}) = CONNECTION_ID() AS ours`;
    const [row] = await ask<{ ours: number | null }>(connection, sql, [request.name]);
    return row?.ours === 1 && !(await isWanted(connection, request));
  };
  const beat = async (): Promise<void> => {
    while (await isStillOurs()) await pause(beatMs, undefined, { signal: released.signal });
  };
  // A connection that was lost has lost the lock: no failure but the way in which this ends.
  beat()
    .catch(() => {})
    .finally(() => over.abort(new Error(`The lock ${request.name} was lost, or somebody else asked for it.`)));
  return {
    over: over.signal,
    release: () => {
      released.abort();
      connection.end();
    },
  };
}

export async function isLockFree(db: Knex, name: string): Promise<boolean> {
  const [rows] = (await db.raw(`SELECT IS_FREE_LOCK(${lockName}) AS free`, [name])) as [{ free: number }[]];
  return rows[0]?.free === 1;
}
