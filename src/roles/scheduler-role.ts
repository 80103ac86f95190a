import { createWaitingList } from "../../projections/waiting/waiting-list.ts";
import { createJetStreamDecisionFeed } from "../event-log/jetstream-durable-feed.ts";
import { createOutageReport } from "../logger.ts";
import { createCrowd } from "../scheduler/crowd.ts";
import { listenToCrowd } from "../scheduler/jetstream-crowd.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import { createTimer } from "../scheduler/timer.ts";
import type { Parts } from "./parts.ts";

/** Queues jobs that are due: at once after a decision, and later by the clock. */
export function startScheduler({ config, logger, connection, log, db, lifecycle }: Parts): void {
  const feed = createJetStreamDecisionFeed(connection, config.natsPrefix, "scheduler", (notice) =>
    logger.error(notice),
  );
  const crowd = createCrowd();
  const stopListening = listenToCrowd(connection, config.natsPrefix, crowd);
  const report = (part: string) => createOutageReport(logger, { part }).failed;
  const scheduler = createScheduler(log, feed, crowd, report("scheduler"));
  const timer = createTimer(log, createWaitingList(db), crowd, report("timer"));
  scheduler.start();
  timer.start();
  lifecycle.started("the scheduler", async () => {
    await Promise.all([scheduler.stop(), timer.stop()]);
    stopListening();
  });
}
