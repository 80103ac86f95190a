import { createReadPositions } from "../../projections/following/read-position.ts";
import { createEndedJobs } from "../../projections/jobs/ended-jobs.ts";
import { takeLock } from "../database/database-lock.ts";
import { createEraser, type ErasurePorts } from "../erasure/complete-erasure.ts";
import { createJetStreamStoredThings } from "../erasure/jetstream-stored-things.ts";
import { createRetention } from "../erasure/retention.ts";
import { createSweeper } from "../erasure/sweeper.ts";
import { createMysqlOutboxRequests } from "../outbox/mysql-outbox-requests.ts";
import { createOutageReport, describeFailure } from "../process/logger.ts";
import { createSuppressionList } from "../suppressions/suppression-list.ts";
import { startListener } from "./listeners.ts";
import type { Parts } from "./parts.ts";

const dayMs = 86_400_000;
const everyMs = 60_000;
const sweepEveryMs = 600_000;

export const erasurePortsOf = ({ log, contentStore, results, db, suppressions }: Parts): ErasurePorts => ({
  log,
  contentStore,
  results,
  outbox: createMysqlOutboxRequests(db),
  suppressions: createSuppressionList(suppressions),
});

/** Carries out recorded erasures, and erases leftovers and expired jobs. */
export function startErasing(parts: Parts): void {
  const { config, logger, db, announcements, lifecycle } = parts;
  const ports = erasurePortsOf(parts);
  startListener(parts, createEraser(ports));
  startSweeping(parts, ports);
  if (config.retentionDays === null) return;
  const { retentionDays } = config;
  const alone = async <Result>(work: () => Promise<Result>): Promise<Result | null> => {
    const lock = await takeLock(db, { name: "retention" }, 0);
    if (lock === null) return null;
    return await work().finally(lock.release);
  };
  const endedJobs = createEndedJobs(db, createReadPositions(db, announcements));
  const settings = { keptMs: retentionDays * dayMs, everyMs };
  const retention = createRetention(ports, endedJobs, alone, settings, {
    erased: (erased, endedBefore) => logger.info({ ...erased, endedBefore, retentionDays }, "expired jobs erased"),
    notErased: ({ tenant, jobId }, failure) =>
      logger.warn(
        { tenant, jobId, error: describeFailure(failure) },
        "expired job not erased; trying again in an hour",
      ),
    failed: createOutageReport(logger, { part: "retention" }).failed,
  });
  retention.start();
  lifecycle.started("the retention", retention.stop);
}

/** A request that has not created its job within a day never will, so content older than that is a leftover. */
function startSweeping({ config, logger, connection, lifecycle }: Parts, ports: ErasurePorts): void {
  const things = createJetStreamStoredThings(connection, config.natsPrefix);
  const settings = { olderThanMs: dayMs, everyMs: sweepEveryMs };
  const sweeper = createSweeper(ports, things, settings, {
    erased: (count) => logger.info({ count }, "content without a job erased"),
    notErased: ({ job: { tenant, jobId } }, failure) =>
      logger.warn(
        { tenant, jobId, error: describeFailure(failure) },
        "stored content not looked at; trying again later",
      ),
    failed: createOutageReport(logger, { part: "sweeper" }).failed,
  });
  sweeper.start();
  lifecycle.started("the sweeper", sweeper.stop);
}
