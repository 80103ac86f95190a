import type { RetrySchedule } from "../domain/retry-schedule.ts";
import type { EventLog } from "../event-log/event-log.ts";
import type { WorkQueue } from "../turns/work-queue.ts";
import { createUnwritten } from "./bookkeeper.ts";
import type { JobWork } from "./job-work.ts";
import type { LeaseProbe } from "./lease.ts";
import { runTurn } from "./run-turn.ts";
import { createWorker, type ReportOfWorker, type Worker, type WorkerSettings } from "./worker.ts";

/** For a kind that does not say how many recipients it serves at a time. */
const usualConnections = 10;

export type JobWorkerDependencies = {
  readonly log: EventLog;
  /** The lanes of the kind of job that this worker serves. */
  readonly queue: WorkQueue;
  readonly probe: LeaseProbe;
};

export type JobWorkerConfig = Pick<WorkerSettings, "name" | "concurrency"> & {
  readonly retrySchedule: RetrySchedule;
  /** See WorkerSettings; the default is half a second. */
  readonly firstDelayMs?: number;
};

/** A worker for the jobs of one kind. */
export function createJobWorker(
  { log, queue, probe }: JobWorkerDependencies,
  { type, prepare, gate: createGate, ...own }: JobWork,
  { name, concurrency: usual, retrySchedule, firstDelayMs = 500 }: JobWorkerConfig,
  report: ReportOfWorker,
): Worker {
  const concurrency = own.concurrency ?? usual;
  const unwritten = createUnwritten(own.connections ?? usualConnections);
  const ofTurns = { log, probe, worker: name, type, retrySchedule, unwritten, prepare };
  const worker: Worker = createWorker(
    queue,
    probe,
    (delivery, stopping, giveUp) => runTurn(delivery, { ...ofTurns, stopping, giveUp }),
    {
      name,
      concurrency,
      firstDelayMs,
      mayTake: async () => (gate === null ? concurrency : await gate.mayTake()),
    },
    report,
  );
  const gate = createGate?.({ busy: worker.busy, waiting: queue.waiting, lookForWork: worker.lookForWork }) ?? null;
  return {
    ...worker,
    start: () => {
      gate?.start();
      worker.start();
    },
    stop: async (withinMs) => {
      await worker.stop(withinMs);
      gate?.stop();
    },
  };
}
