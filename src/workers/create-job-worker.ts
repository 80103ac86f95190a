import type { RetrySchedule } from "../domain/retry-schedule.ts";
import type { EventLog } from "../event-log/event-log.ts";
import type { WorkQueue } from "../turns/work-queue.ts";
import { createUnwritten } from "./bookkeeper.ts";
import type { JobWork } from "./job-work.ts";
import type { LeaseProbe } from "./lease.ts";
import { runTurn } from "./run-turn.ts";
import { createWorker, type ReportOfWorker, type Worker } from "./worker.ts";

/**
 * How long a worker may be silent before the queue hands its job to another one. The queue notices a killed worker after
 * this time; a worker that is stopped for less loses nothing.
 */
export const queuePatienceMs = 15_000;

/** For a kind that does not say how many recipients it serves at a time. */
const usualConnections = 10;

export type JobWorkerDependencies = {
  readonly log: EventLog;
  /** The lanes of the kind of job that this worker serves. */
  readonly queue: WorkQueue;
  readonly probe: LeaseProbe;
};

export type JobWorkerConfig = {
  /** The name of this worker in the log; no other worker, of this process or another, has the same name. */
  readonly name: string;
  readonly concurrency: number;
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
  const worker: Worker = createWorker(
    queue,
    probe,
    (delivery, stopping, giveUp) =>
      runTurn(delivery, {
        log,
        probe,
        worker: name,
        type,
        retrySchedule,
        unwritten,
        stopping,
        giveUp,
        prepare,
      }),
    {
      name,
      concurrency,
      firstDelayMs,
      keepEveryMs: queuePatienceMs / 3,
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
