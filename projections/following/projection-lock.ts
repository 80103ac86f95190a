import type { Knex } from "knex";
import { type HeldLock, takeLock } from "../../src/database/database-lock.ts";

const exclusiveWaitMs = 30_000;

/** Held by the process that writes the live tables. */
const liveLock = (projection: string): string => `live/${projection}`;

/**
 * Taken by a process that needs the live tables exclusively for a moment: the live projection steps back while it is
 * held.
 */
const exclusiveLock = (projection: string): string => `exclusive/${projection}`;

/** Held from the start of a rebuild to its end. */
export const rebuildLock = (projection: string): string => `rebuild/${projection}`;

/** Waits until this process is the one active instance; null once the signal aborts. */
export async function becomeActive(db: Knex, projection: string, signal: AbortSignal): Promise<HeldLock | null> {
  const request = { name: liveLock(projection), yieldTo: exclusiveLock(projection) };
  return takeLock(db, request, Number.POSITIVE_INFINITY, signal);
}

/**
 * Runs the work while no other process writes the live tables. A live projection finishes its batch, steps back, and
 * continues afterwards from the checkpoint that it then finds.
 */
export async function exclusively<Result>(
  db: Knex,
  projection: string,
  work: (lock: HeldLock) => Promise<Result>,
): Promise<Result> {
  const asking = await takeLock(db, { name: exclusiveLock(projection) }, exclusiveWaitMs);
  if (asking === null) throw new Error(`Another process has been changing the tables of ${projection} for too long.`);
  try {
    const live = await takeLock(db, { name: liveLock(projection) }, exclusiveWaitMs);
    if (live === null) throw new Error(`The live projection ${projection} did not step back.`);
    try {
      return await work(live);
    } finally {
      live.release();
    }
  } finally {
    asking.release();
  }
}
