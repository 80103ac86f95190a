import { setTimeout as pause } from "node:timers/promises";
import { allProjectors } from "../../projections/all-projectors.ts";
import { createContentReader } from "../../projections/following/content-reader.ts";
import { createProjectorRunner } from "../../projections/following/run-projector.ts";
import { shareFollowing } from "../../projections/following/share-following.ts";
import { migrateWhenReachable } from "../../projections/migrate.ts";
import type { Parts } from "./parts.ts";
import { startRebuilds } from "./rebuilds-role.ts";

/** A database that is there is up to date by then; one that is away keeps nobody from taking jobs. */
const migratedSoonMs = 5000;

/** Keeps the read models up to date, and rebuilds those that operators ask for. */
export async function startProjecting(parts: Parts): Promise<void> {
  await startProjectors(parts);
  startRebuilds(parts);
}

async function startProjectors(parts: Parts): Promise<void> {
  const { config, db, contentStore, announcements, logger, lifecycle } = parts;
  const stopping = new AbortController();
  const sources = { readContent: createContentReader(contentStore) };
  const log = shareFollowing(parts.log);
  const runners = allProjectors.map((projector) =>
    createProjectorRunner({ projector, db, log, sources, announcements, logger, mayChangeTables: config.autoMigrate }),
  );
  const migrated = config.autoMigrate
    ? migrateWhenReachable(db, allProjectors, logger, stopping.signal)
    : Promise.resolve();
  const started = migrated.then(() => {
    if (!stopping.signal.aborted) for (const runner of runners) runner.start();
  });
  lifecycle.started("the projectors", async () => {
    stopping.abort();
    await started;
    await Promise.all(runners.map((runner) => runner.stop()));
  });
  await Promise.race([started, pause(migratedSoonMs, undefined, { ref: false })]);
}
