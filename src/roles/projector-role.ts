import { setTimeout as pause } from "node:timers/promises";
import { allProjectors } from "../../projections/all-projectors.ts";
import { createContentReader } from "../../projections/following/content-reader.ts";
import { createProjectorRunner } from "../../projections/following/run-projector.ts";
import { migrate } from "../../projections/migrate.ts";
import { carryOutRebuilds } from "../../projections/rebuilding/carry-out-rebuilds.ts";
import { createOutageReport } from "../process/logger.ts";
import { createPollLoop } from "../process/poll-loop.ts";
import type { Parts } from "./parts.ts";

/** A reachable database is migrated within this time; an unreachable one must not keep the process from accepting jobs. */
const migratedSoonMs = 5000;
const migrateAgainMs = 1000;
const pollRebuildsMs = 2000;

/** Keeps the read models up to date, and rebuilds those that operators ask for. */
export async function startProjecting(parts: Parts): Promise<void> {
  await startProjectors(parts);
  startRebuilds(parts);
}

async function startProjectors(parts: Parts): Promise<void> {
  const { config, db, contentStore, announcements, logger, lifecycle, followed: log } = parts;
  const stopping = new AbortController();
  const sources = { readContent: createContentReader(contentStore) };
  const runners = allProjectors.map((projector) =>
    createProjectorRunner({ projector, db, log, sources, announcements, logger, mayChangeTables: config.autoMigrate }),
  );
  const migrated = config.autoMigrate ? migrateWhenReachable(parts, stopping.signal) : Promise.resolve();
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

/** Retries until the database is migrated or the signal aborts. It never rejects. */
async function migrateWhenReachable({ db, logger }: Parts, signal: AbortSignal): Promise<void> {
  const outage = createOutageReport(logger, { part: "migration" });
  while (!signal.aborted) {
    try {
      await migrate(db, allProjectors);
      return outage.recovered();
    } catch (failure) {
      outage.failed(failure);
      await pause(migrateAgainMs, undefined, { signal }).catch(() => {});
    }
  }
}

function startRebuilds({ db, log, contentStore, announcements, logger, lifecycle }: Parts): void {
  const report = createOutageReport(logger, { part: "rebuilds" }).failed;
  const sources = { readContent: createContentReader(contentStore) };
  const asked = { db, log, sources, announcements, projectors: allProjectors, logger, report };
  const poll = async (stopping: AbortSignal): Promise<"done"> => {
    await carryOutRebuilds(asked, stopping);
    return "done";
  };
  const loop = createPollLoop({ poll, everyMs: pollRebuildsMs, report });
  loop.start();
  lifecycle.started("the rebuilds", loop.stop);
}
