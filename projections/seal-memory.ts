import type { Knex } from "knex";
import type { SealObserver } from "../src/seals/seal-observer.ts";

const table = "remembered_seals";

type Row = { readonly sequence: number | string; readonly digest: string };

/**
 * Remembers the last seal of a log in the database, which a rollback of the log does not reach. `logName` distinguishes
 * the logs that share a database.
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
      // In this order: if two processes begin at once, the later one updates the row of the earlier one.
      await db(table)
        .insert({ log: logName, ...seal })
        .onConflict("log")
        .ignore();
      await db(table).where({ log: logName }).andWhere("sequence", "<", seal.sequence).update(seal);
    },
  };
}

/** Forgets the remembered seal: the current log is accepted as the right one. */
export async function forgetSeals(db: Knex, logName: string): Promise<void> {
  await db(table).where({ log: logName }).delete();
}
