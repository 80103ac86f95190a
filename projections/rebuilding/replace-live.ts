import type { Knex } from "knex";
import type { Announcements } from "../../src/event-log/announcements.ts";
import type { EventLog } from "../../src/event-log/event-log.ts";
import { describeFailure } from "../../src/logger.ts";
import { catchUp, type Progress } from "../following/catch-up.ts";
import { type Checkpoint, isOfLog, readCheckpoint } from "../following/checkpoint.ts";
import { exclusively } from "../following/projection-lock.ts";
import { type ProjectionStatus, readStatus, writeStatus } from "../following/projection-status.ts";
import { believedAfterMs, settledState } from "../following/settled-log.ts";
import type { Projector, Sources } from "../projector.ts";
import type { Held } from "./rebuild-lock.ts";
import { swapTables } from "./swap-tables.ts";
import { dropTables, liveCheckpoint } from "./table-set.ts";

export type RebuildSetup = {
  readonly db: Knex;
  readonly log: EventLog;
  readonly sources: Sources;
  readonly announcements: Announcements;
  readonly onProgress: (progress: Progress) => void;
  /** Called with the name of each projection whose new tables are the live ones now, and whether the old are kept. */
  readonly onRebuilt: (projection: string, isKept: boolean) => void;
  /** Ends it where it is: what was projected so far is there for the next one. */
  readonly signal?: AbortSignal;
};

export type Begun = Held & { readonly before: ProjectionStatus | null };

export const begin = async ({ projector, lock }: Held, db: Knex): Promise<Begun> => ({
  projector,
  lock,
  before: await readStatus(db, projector.name),
});

/**
 * Brings the tables of a suffix up to the end of the log, beside the live ones, and puts them in their place. Those that
 * were live are kept, but where something was erased that they still hold.
 */
export async function replaceLive(begun: Begun, from: "__next" | "__previous", setup: RebuildSetup): Promise<void> {
  const { projector, lock } = begun;
  const { db, log, announcements, onRebuilt, signal } = setup;
  await dropTables(db, projector, "__dropped");
  const over = AbortSignal.any([lock.over, ...(signal === undefined ? [] : [signal])]);
  // Of rows that were projected before this began nobody knows what was erased on the way.
  let lastErasure = await sequenceOf(db, projector, from);
  const onErasure = (sequence: number): void => {
    lastErasure = Math.max(lastErasure, sequence);
  };
  const fill = async (atLeast: number, until: AbortSignal): Promise<Checkpoint> => {
    const { sources, onProgress } = setup;
    const checkpoint = await readCheckpoint(db, projector.name, from);
    if (checkpoint === null) throw new Error(`The tables to be put in place of ${projector.name} are gone.`);
    const place = { db, projector, suffix: from, sources };
    return catchUp({ place, log, from: checkpoint, atLeast, onProgress, onErasure }, until);
  };
  // Most of the way while the live projection goes on; what came in meanwhile is little, and for that it waits.
  await fill(0, over);
  const { reached, isKept } = await exclusively(db, projector.name, async (live) => {
    const liveSequence = await sequenceOfUse(projector, setup, over);
    const last = await fill(liveSequence, AbortSignal.any([over, live.over]));
    const keep = lastErasure <= liveSequence;
    const isKept = await swapTables(db, projector, from, keep ? "__previous" : "__dropped");
    return { reached: last, isKept };
  });
  await writeStatus(db, projector, { status: "live" });
  announcements.announce(projector.name, reached.sequence);
  await dropTables(db, projector, "__dropped");
  onRebuilt(projector.name, isKept);
}

/** The live projection goes on as it was where its rebuild fails. */
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

/** What stops all of them is said once. */
export function throwFailures(results: readonly PromiseSettledResult<unknown>[]): void {
  const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  const texts = new Set(failures.map(describeFailure));
  if (texts.size === 1) throw failures[0];
  if (texts.size > 1) throw new AggregateError(failures, [...texts].join("\n"));
}

const sequenceOf = async (db: Knex, projector: Projector, suffix: "__next" | "__previous"): Promise<number> =>
  (await readCheckpoint(db, projector.name, suffix))?.sequence ?? 0;

/** What readers have seen already must be in the new tables too; 0 where the live ones are of no use any more. */
async function sequenceOfUse(projector: Projector, { db, log }: RebuildSetup, over: AbortSignal): Promise<number> {
  const live = await liveCheckpoint(db, projector);
  if (live === null) return 0;
  return isOfLog(live, await settledState(log, live, believedAfterMs, over)) ? live.sequence : 0;
}
