import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import { migrate } from "../migrate.ts";
import type { Projector } from "../projector.ts";
import { createOutageReport, type ProjectionLogger } from "./outage-report.ts";

const againMs = 1000;

/** Tries at once, and where the database is away, until it is there or the signal aborts. It never rejects. */
export async function migrateWhenReachable(
  db: Knex,
  projectors: readonly Projector[],
  logger: ProjectionLogger,
  signal: AbortSignal,
): Promise<void> {
  const outage = createOutageReport(logger, "migration");
  while (!signal.aborted) {
    try {
      await migrate(db, projectors);
      outage.isOver();
      return;
    } catch (failure) {
      outage.goesOn(failure);
      await pause(againMs, undefined, { signal }).catch(() => {});
    }
  }
}
