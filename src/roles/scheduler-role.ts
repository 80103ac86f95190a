import { createOpenJobs } from "../../projections/jobs/open-jobs.ts";
import { createWaitingList } from "../../projections/waiting/waiting-list.ts";
import { createOutageReport } from "../process/logger.ts";
import { createJetStreamTurns } from "../turns/jetstream-turns.ts";
import { createMissingTurns } from "../turns/scheduler/missing-turns.ts";
import { createScheduler } from "../turns/scheduler/scheduler.ts";
import { createTimer } from "../turns/scheduler/timer.ts";
import { startListener } from "./listeners.ts";
import type { Parts } from "./parts.ts";

/**
 * Puts the turns of jobs: the scheduler right after a decision, the timer when the time of a job has come, and a
 * comparison now and then those that got lost.
 */
export function startScheduler(parts: Parts): void {
  const { config, logger, connection, log, db } = parts;
  const turns = createJetStreamTurns(connection, { prefix: config.natsPrefix, replicas: config.streamReplicas });
  const waitingList = createWaitingList(db);
  const ports = { log, turns, openJobs: createOpenJobs(db), waitingList };
  const reportOf = (part: string) => createOutageReport(logger, { part }).failed;
  const scheduler = createScheduler(turns, (put) => [
    createTimer(put, waitingList, reportOf("timer")),
    createMissingTurns(ports, put, {
      failed: reportOf("missing turns"),
      lost: (putAgain) => logger.warn({ putAgain }, "the queue of turns was lost; missing turns put again"),
    }),
  ]);
  startListener(parts, scheduler);
}
