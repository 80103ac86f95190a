import type { Knex } from "knex";
import type { SealObserver } from "../src/seals/seal-observer.ts";

const table = "remembered_seals";

type Row = { readonly sequence: number | string; readonly digest: string };

/**
 * Remembers the last seal of a log in the database, where a rollback of the log does not reach. `logName` tells logs
 * apart that share a database.
 */
export function createSealMemory(db: Knex, logName: string): SealObserver {
  const last = async () => {
    const row: Row | undefined = await db(table).where({ log: logName }).first("sequence", "digest");
    return row === undefined ? null : { sequence: Number(row.sequence), digest: row.digest };
  };
  return {
    name: "the database",
    last,
    remember: async (seal) => {
      // In this order: of two that begin at once, the later one changes what the earlier one has put there.
      await db(table)
        .insert({ log: logName, ...seal })
        .onConflict("log")
        .ignore();
      await db(table).where({ log: logName }).andWhere("sequence", "<", seal.sequence).update(seal);
    },
  };
}

/** Forgets what was remembered: the log as it is now is taken for the right one. */
export async function forgetSeals(db: Knex, logName: string): Promise<void> {
  await db(table).where({ log: logName }).delete();
}
