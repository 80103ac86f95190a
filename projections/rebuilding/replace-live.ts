import type { Knex } from "knex";
import { isDatabaseTrouble } from "../../src/database/database-failure.ts";
import { TableHeld } from "../../src/database/table-held.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import type { Announcements } from "../../src/event-log/following/announcements.ts";
import { isOfSettledLog } from "../../src/event-log/following/settled-log.ts";
import { describeFailure } from "../../src/process/logger.ts";
import { catchUp, type Progress } from "../following/catch-up.ts";
import { type Checkpoint, forgetErasures, readCheckpoint } from "../following/checkpoint.ts";
import { exclusively } from "../following/projection-lock.ts";
import { type ProjectionStatus, readStatus, writeStatus } from "../following/projection-status.ts";
import type { Projector, Sources } from "../projector.ts";
import { addQueryKeys } from "./add-query-keys.ts";
import type { Held } from "./rebuild-lock.ts";
import { swapTables } from "./swap-tables.ts";
import { dropTables, liveCheckpoint } from "./table-set.ts";

export type RebuildSetup = {
  readonly db: Knex;
  readonly log: EventLog;
  /** See CatchUp. */
  readonly alone?: EventLog;
  readonly sources: Sources;
  readonly announcements: Announcements;
  readonly onProgress: (progress: Progress) => void;
  /** Called with the name of each projection whose new tables hold every event, and get the keys of queries now. */
  readonly onKeys: (projection: string) => void;
  /** Called with the name of each projection whose new tables are now live, and whether the old ones are kept. */
  readonly onRebuilt: (projection: string, isKept: boolean) => void;
  /** Aborts the rebuild: the rows projected so far stay for the next one. */
  readonly signal?: AbortSignal;
};

export type Begun = Held & { readonly before: ProjectionStatus | null };

export const begin = async ({ projector, lock }: Held, db: Knex): Promise<Begun> => ({
  projector,
  lock,
  before: await readStatus(db, projector.name),
});

/**
 * Brings the tables of a suffix up to the end of the log, beside the live ones, and swaps them in. The former live
 * tables are kept, unless they still hold erased data.
 */
export async function replaceLive(begun: Begun, from: "__next" | "__previous", setup: RebuildSetup): Promise<void> {
  const { projector, lock } = begun;
  const { db, log, announcements, onKeys, onRebuilt, signal } = setup;
  await dropTables(db, projector, "__dropped");
  const over = AbortSignal.any([lock.over, ...(signal === undefined ? [] : [signal])]);
  // For rows projected before this call it is unknown which of them were erased on the way.
  let lastErasure = await sequenceOf(db, projector, from);
  const onErasure = (sequence: number): void => {
    lastErasure = Math.max(lastErasure, sequence);
  };
  const fill = async (atLeast: number, until: AbortSignal): Promise<Checkpoint> => {
    const { alone, sources, onProgress } = setup;
    const checkpoint = await readCheckpoint(db, projector.name, from);
    if (checkpoint === null) throw new Error(`The new tables of ${projector.name} no longer exist.`);
    const place = { db, projector, suffix: from, sources };
    return catchUp({ place, log, alone, from: checkpoint, atLeast, onProgress, onErasure }, until);
  };
  // Catches up with most of the log while the live projection continues; it has to wait only for the few events that
  // came in meanwhile.
  const fillBesides = async (): Promise<Checkpoint> => fill(await sequenceOfUse(projector, setup, over), over);
  await fillBesides();
  const keying = { suffix: from, onKeys: () => onKeys(projector.name) };
  if (await addQueryKeys(db, projector, keying, over)) await fillBesides();
  const { reached, isKept } = await exclusively(db, projector.name, async (live) => {
    const liveSequence = await sequenceOfUse(projector, setup, over);
    const last = await fill(liveSequence, AbortSignal.any([over, live.over]));
    await forgetErasures(db, projector.name, from);
    const keep = lastErasure <= liveSequence;
    const isKept = await swapTables(db, projector, from, keep ? "__previous" : "__dropped", live);
    return { reached: last, isKept };
  });
  await writeStatus(db, projector, { status: "live" });
  announcements.announce(projector.name, reached.sequence);
  await dropFormer(db, projector);
  onRebuilt(projector.name, isKept);
}

/** The rebuild is done without it: `keepTidy` drops what a session keeps open, or what the server takes too long to drop. */
async function dropFormer(db: Knex, projector: Projector): Promise<void> {
  await dropTables(db, projector, "__dropped").catch((failure: unknown) => {
    if (!(failure instanceof TableHeld || isDatabaseTrouble(failure))) throw failure;
  });
}

/** If its rebuild fails, the live projection continues as before. */
export async function orElseAsBefore<Result>(
  { projector, before }: Begun,
  db: Knex,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (failure) {
    await writeStatus(db, projector, before ?? { status: "live" }).catch(() => {});
    throw failure;
  }
}

/** A failure common to all of them is thrown once. */
export function throwFailures(results: readonly PromiseSettledResult<unknown>[]): void {
  const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  const texts = new Set(failures.map(describeFailure));
  if (texts.size === 1) throw failures[0];
  if (texts.size > 1) throw new AggregateError(failures, [...texts].join("\n"));
}

const sequenceOf = async (db: Knex, projector: Projector, suffix: "__next" | "__previous"): Promise<number> =>
  (await readCheckpoint(db, projector.name, suffix))?.sequence ?? 0;

/** The new tables must include everything that readers have already seen; 0 if the live tables are unusable. */
async function sequenceOfUse(projector: Projector, { db, log }: RebuildSetup, over: AbortSignal): Promise<number> {
  const live = await liveCheckpoint(db, projector);
  if (live === null) return 0;
  return (await isOfSettledLog(log, live, over)) ? live.sequence : 0;
}
