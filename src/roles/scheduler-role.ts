import { createOpenJobs } from "../../projections/jobs/open-jobs.ts";
import { createWaitingList } from "../../projections/waiting/waiting-list.ts";
import { createJetStreamDecisionFeed } from "../event-log/jetstream-durable-feed.ts";
import { createOutageReport } from "../logger.ts";
import { listenToLanes } from "../scheduler/jetstream-overflow-lanes.ts";
import { createMissingTurns } from "../scheduler/missing-turns.ts";
import { createOverflowLanes } from "../scheduler/overflow-lanes.ts";
import { createScheduler, type PutTurn } from "../scheduler/scheduler.ts";
import { createTimer } from "../scheduler/timer.ts";
import { createJetStreamTurns } from "../turns/jetstream-turns.ts";
import type { Parts } from "./parts.ts";

/**
 * Puts the turns of jobs: the scheduler right after a decision, the timer when the time of a job has come, and a
 * comparison now and then those that got lost.
 */
export function startScheduler({ config, logger, connection, log, db, lifecycle }: Parts): void {
  const { natsPrefix: prefix, streamReplicas: replicas } = config;
  const feed = createJetStreamDecisionFeed(connection, prefix, "scheduler", (notice) => logger.error(notice));
  const turns = createJetStreamTurns(connection, { prefix, replicas });
  const lanes = createOverflowLanes();
  const put: PutTurn = (turn) => turns.put(turn, lanes.place(turn));
  const stopListening = listenToLanes(connection, prefix, lanes);
  const report = (part: string) => createOutageReport(logger, { part }).failed;
  const waitingList = createWaitingList(db);
  const parts = [
    createScheduler(feed, put, report("scheduler")),
    createTimer(put, waitingList, report("timer")),
    createMissingTurns({ log, turns, openJobs: createOpenJobs(db), waitingList }, put, report("missing turns")),
  ];
  for (const part of parts) part.start();
  lifecycle.started("the scheduler", async () => {
    await Promise.all(parts.map((part) => part.stop()));
    stopListening();
  });
}
