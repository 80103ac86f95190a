import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type { Connection } from "mysql2";
import { abandonConnection, openConnection, waitWithoutLimit } from "../../src/database/database.ts";
import { ask } from "../../src/database/session.ts";
import { isOfSettledLog } from "../../src/event-log/following/settled-log.ts";
import { asOne, shareFollowing } from "../../src/event-log/following/share-following.ts";
import { catchUp } from "../following/catch-up.ts";
import { type Checkpoint, readCheckpoint } from "../following/checkpoint.ts";
import { exclusively } from "../following/projection-lock.ts";
import type { Projector } from "../projector.ts";
import { compareTables, type Difference } from "./compare-tables.ts";
import { type Held, holdingRebuildLocks } from "./rebuild-lock.ts";
import { type RebuildSetup, throwFailures } from "./replace-live.ts";
import { createTables, dropTables, liveCheckpoint } from "./table-set.ts";

export type CheckSetup = Pick<RebuildSetup, "db" | "log" | "sources" | "onProgress" | "signal"> & {
  readonly onChecked: (checked: Checked) => void;
};

export type Checked = {
  readonly projection: string;
  /** Both sides were compared as of this event. */
  readonly sequence: number;
  readonly differences: readonly Difference[];
};

/** The rows are not comparable: they are of another version or of another log. */
export class NotComparable extends Error {
  override readonly name = "NotComparable";
}

/** The limit for each kind of difference in each table. */
const differencesShown = 5;

/** A row that another process is changing differs for a moment; a wrong row differs permanently. */
const rounds = 3;
const betweenRoundsMs = 1_000;

/**
 * Projects the log into tables beside the live ones, exactly up to the same event, and compares the two. The live
 * projection pauses only for the last few events before that. Nothing is changed, whatever the result, and the tables
 * are dropped at the end.
 */
export async function checkRows(projectors: readonly Projector[], setup: CheckSetup): Promise<void> {
  const { db } = setup;
  await holdingRebuildLocks(db, projectors, async (held) => {
    const together = { ...setup, log: shareFollowing(setup.log, asOne) };
    throwFailures(await Promise.allSettled(held.map((one) => check(one, together))));
  });
}

async function check({ projector, lock }: Held, setup: CheckSetup): Promise<void> {
  const { db, signal, onChecked } = setup;
  const over = AbortSignal.any([lock.over, ...(signal === undefined ? [] : [signal])]);
  const drop = (): Promise<void> => dropTables(db, projector, "__check", lock.ask);
  await drop();
  try {
    await createTables(db, projector, "__check");
    // Never beyond the live tables: a projection cannot go back.
    await fillUpTo((await comparable(projector, setup, over)).sequence, projector, setup, over);
    let checked = await compareOnce(projector, setup, over);
    for (let round = 1; round < rounds && checked.differences.length > 0; round += 1) {
      await pause(betweenRoundsMs, undefined, { signal: over });
      checked = await compareOnce(projector, setup, over);
    }
    onChecked(checked);
  } finally {
    await drop().catch(() => {});
  }
}

async function comparable(projector: Projector, { db, log }: CheckSetup, over: AbortSignal): Promise<Checkpoint> {
  const { name, version } = projector;
  const live = await liveCheckpoint(db, projector);
  if (live === null) throw new NotComparable(`The tables of ${name} do not exist: run "waybill rebuild ${name}".`);
  if (live.version !== version) {
    throw new NotComparable(
      `The tables of ${name} have version ${live.version}; this release makes version ${version}.`,
    );
  }
  if (!(await isOfSettledLog(log, live, over))) {
    throw new NotComparable(
      `The tables of ${name} were projected from another log, or from events that this log no longer has.`,
    );
  }
  return live;
}

async function fillUpTo(upTo: number, projector: Projector, setup: CheckSetup, signal: AbortSignal): Promise<void> {
  const { db, log, sources, onProgress } = setup;
  const from = await readCheckpoint(db, projector.name, "__check");
  if (from === null) throw new Error(`The tables for the check of ${projector.name} no longer exist.`);
  const place = { db, projector, suffix: "__check", sources } as const;
  await catchUp({ place, log, from, atLeast: upTo, upTo, onProgress }, signal);
}

/**
 * Holds the lock only until there is a snapshot of both sides: the comparison takes a while, and no process has to wait
 * for it.
 */
async function compareOnce(projector: Projector, setup: CheckSetup, over: AbortSignal): Promise<Checked> {
  const { db } = setup;
  const { connection, sequence } = await exclusively(db, projector.name, async (live) => {
    const reached = await comparable(projector, setup, over);
    await fillUpTo(reached.sequence, projector, setup, AbortSignal.any([over, live.over]));
    return { ...reached, connection: await openSnapshot(db) };
  });
  // Comparing large tables, the server says nothing for as long as it takes; that it is lost shows at the lock.
  const giveUp = (): void => abandonConnection(connection);
  over.addEventListener("abort", giveUp);
  waitWithoutLimit(connection);
  try {
    over.throwIfAborted();
    const differences = await compareTables(connection, projector, differencesShown);
    // Before the tables are dropped, because that waits for every reader.
    await ask(connection, "COMMIT");
    return { projection: projector.name, sequence, differences };
  } finally {
    over.removeEventListener("abort", giveUp);
    connection.end();
  }
}

async function openSnapshot(db: Knex): Promise<Connection> {
  const connection = await openConnection(db);
  try {
    await ask(connection, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    await ask(connection, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
    return connection;
  } catch (failure) {
    abandonConnection(connection);
    throw failure;
  }
}
