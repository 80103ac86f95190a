import type { RetrySchedule } from "../domain/retry-schedule.ts";
import type { EventLog } from "../event-log/event-log.ts";
import type { WorkQueue } from "../turns/work-queue.ts";
import { createUnwritten } from "./bookkeeper.ts";
import type { HelpExchange } from "./help.ts";
import { createHelper } from "./helper.ts";
import type { JobWork } from "./job-work.ts";
import type { LeaseProbe } from "./lease.ts";
import { createPostponing } from "./postponing.ts";
import { runTurn } from "./run-turn.ts";
import { createSharing, type SharingPace, usualPace } from "./sharing.ts";
import { createWorker, type ReportOfWorker, type Worker, type WorkerSettings } from "./worker.ts";

/** For a kind that does not say how many recipients it serves at a time. */
const usualConnections = 10;

export type JobWorkerDependencies = {
  readonly log: EventLog;
  /** The lanes of the kind of job that this worker serves. */
  readonly queue: WorkQueue;
  readonly probe: LeaseProbe;
  readonly exchange: HelpExchange;
};

export type JobWorkerConfig = Pick<WorkerSettings, "name" | "concurrency"> & {
  readonly retrySchedule: RetrySchedule;
  /** See WorkerSettings; the default is half a second. */
  readonly firstDelayMs?: number;
  readonly sharingPace?: SharingPace;
};

/** A worker for the jobs of one kind. */
export function createJobWorker(
  { log, queue, probe, exchange }: JobWorkerDependencies,
  { type, prepare, gate: createGate, shares, ...own }: JobWork,
  { name, concurrency: usual, retrySchedule, firstDelayMs = 500, sharingPace: pace = usualPace }: JobWorkerConfig,
  report: ReportOfWorker,
): Worker {
  const concurrency = own.concurrency ?? usual;
  const connections = own.connections ?? usualConnections;
  const unwritten = createUnwritten(connections);
  const sharing = shares === undefined ? null : createSharing({ exchange, probe }, { name, type, connections, pace });
  const mayTake = async () => (gate === null ? concurrency : await gate.mayTake());
  const helper =
    shares === undefined
      ? null
      : createHelper(
          type,
          { log, exchange, worker: name, connections: shares, unwritten, prepare },
          {
            hasRoom: () => worker.hasRoom(),
            holds: (job) => worker.holds(job),
            mayServe: async () => Number(await mayTake()) > 0,
            helpBrokeOff: report.helpBrokeOff,
          },
        );
  const ofTurns = {
    log,
    probe,
    worker: name,
    type,
    retrySchedule,
    unwritten,
    prepare,
    sharing,
    postpone: createPostponing(),
  };
  const worker: Worker = createWorker(
    queue,
    probe,
    (delivery, stopping, giveUp) => runTurn(delivery, { ...ofTurns, stopping, giveUp }),
    { name, concurrency, connections, firstDelayMs, mayTake, helper },
    report,
  );
  const gate = createGate?.({ busy: worker.busy, waiting: queue.waiting, lookForWork: worker.lookForWork }) ?? null;
  return {
    ...worker,
    start: () => {
      gate?.start();
      sharing?.start();
      worker.start();
      helper?.start();
    },
    stop: async (withinMs) => {
      await worker.stop(withinMs);
      sharing?.stop();
      gate?.stop();
    },
  };
}
