import type { Knex } from "knex";
import type { LogGauge } from "../../src/event-log/following/log-gauge.ts";
import type { Projector } from "../projector.ts";
import { liveCheckpoint } from "../rebuilding/table-set.ts";

/** How far a read model is behind the log. Null if the log cannot be asked. */
export type ProjectionLag = {
  readonly projection: string;
  readonly sequence: number;
  readonly lagEvents: number | null;
  /** The age of the first event that the read model does not hold yet. */
  readonly lagSeconds: number | null;
};

/** The result is cached for this long: many callers may ask at a time. */
const freshMs = 1000;

/** Reads the checkpoint of every read model. Throws if the database cannot be reached. */
export function createProjectionLags(
  db: Knex,
  projectors: readonly Projector[],
  gauge: LogGauge,
): () => Promise<readonly ProjectionLag[]> {
  let asked: { readonly at: number; readonly lags: Promise<readonly ProjectionLag[]> } | null = null;
  return () => {
    const now = performance.now();
    if (asked === null || now - asked.at >= freshMs) asked = { at: now, lags: readLags(db, projectors, gauge) };
    return asked.lags;
  };
}

async function readLags(
  db: Knex,
  projectors: readonly Projector[],
  gauge: LogGauge,
): Promise<readonly ProjectionLag[]> {
  const positions = await Promise.all(
    projectors.map(async (projector) => ({
      projection: projector.name,
      sequence: (await liveCheckpoint(db, projector))?.sequence ?? 0,
    })),
  );
  // Read after the checkpoints: events stored meanwhile show as a lag, and never as a lead.
  const lastSequence = await gauge.size().then(
    (size) => size.lastSequence,
    () => null,
  );
  return Promise.all(
    positions.map(async (position) => ({ ...position, ...(await lagOf(position.sequence, lastSequence, gauge)) })),
  );
}

async function lagOf(
  sequence: number,
  lastSequence: number | null,
  gauge: LogGauge,
): Promise<Pick<ProjectionLag, "lagEvents" | "lagSeconds">> {
  if (lastSequence === null) return { lagEvents: null, lagSeconds: null };
  const lagEvents = Math.max(0, lastSequence - sequence);
  if (lagEvents === 0) return { lagEvents, lagSeconds: 0 };
  const storedAt = await gauge.storedAfter(sequence).catch(() => null);
  return { lagEvents, lagSeconds: storedAt === null ? null : Math.max(0, (Date.now() - Date.parse(storedAt)) / 1000) };
}
