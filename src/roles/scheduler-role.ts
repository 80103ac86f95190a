import { createWaitingList } from "../../projections/waiting/waiting-list.ts";
import { createJetStreamDecisionFeed } from "../event-log/jetstream-durable-feed.ts";
import { createOutageReport } from "../logger.ts";
import { listenToLanes } from "../scheduler/jetstream-overflow-lanes.ts";
import { createOverflowLanes } from "../scheduler/overflow-lanes.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import { createTimer } from "../scheduler/timer.ts";
import type { Parts } from "./parts.ts";

/** Queues jobs that are due: the scheduler right after a decision, the timer when the time of a job has come. */
export function startScheduler({ config, logger, connection, log, db, lifecycle }: Parts): void {
  const feed = createJetStreamDecisionFeed(connection, config.natsPrefix, "scheduler", (notice) =>
    logger.error(notice),
  );
  const lanes = createOverflowLanes();
  const stopListening = listenToLanes(connection, config.natsPrefix, lanes);
  const report = (part: string) => createOutageReport(logger, { part }).failed;
  const scheduler = createScheduler(log, feed, lanes, report("scheduler"));
  const timer = createTimer(log, createWaitingList(db), lanes, report("timer"));
  scheduler.start();
  timer.start();
  lifecycle.started("the scheduler", async () => {
    await Promise.all([scheduler.stop(), timer.stop()]);
    stopListening();
  });
}
