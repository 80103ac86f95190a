import type { ContentStore } from "../content/content-store.ts";
import type { RetrySchedule } from "../domain/retry-schedule.ts";
import type { EventLog, JobRef } from "../event-log/event-log.ts";
import type { BrokenMailer } from "../mail/breaker.ts";
import { createCaution } from "../mail/caution.ts";
import type { Pace } from "../mail/pace.ts";
import type { WorkQueue } from "../work-queue/work-queue.ts";
import { sendMailing } from "./email-send.ts";
import type { LeaseProbe } from "./lease-probe.ts";
import { runTurn } from "./run-turn.ts";
import { createWorker, type Worker } from "./worker.ts";

/**
 * How long the queue lets a worker be silent before it hands its job to another. A worker that was killed is missed
 * after this; one that is stopped for less loses nothing.
 */
export const queuePatienceMs = 15_000;

/**
 * While the mail server is away, and fewer turns than this wait, they are tried by their schedule, one after the other,
 * as mails are that a breaker counts: a lone job comes to an end that somebody hears of. A crowd waits untouched.
 */
const mostWaitingToTry = 5;

export type WorkerDependencies = {
  readonly log: EventLog;
  readonly contentStore: ContentStore;
  readonly queue: WorkQueue;
  readonly probe: LeaseProbe;
  readonly mailer: BrokenMailer;
  readonly pace: Pace;
};

export type WorkerConfig = {
  readonly name: string;
  readonly concurrency: number;
  readonly mailFrom: string;
  readonly batchDelayMs: number;
  readonly retrySchedule: RetrySchedule;
};

type Report = (failure: unknown, job: JobRef | null) => void;

/** A worker for the jobs there are: mailings. */
export function createMailWorker(
  { log, contentStore, queue, probe, mailer, pace }: WorkerDependencies,
  config: WorkerConfig,
  report: Report,
): Worker {
  const { name, concurrency, mailFrom, batchDelayMs, retrySchedule } = config;
  /** Jobs share the connections: what is claimed for one beyond its share would only wait for those of another. */
  const connections = (): number => Math.max(1, Math.floor(mailer.connections / Math.max(1, worker.busy())));
  const caution = createCaution(mailer, () => worker.wake());
  const mayTake = async (): Promise<number> => {
    if (mailer.state() !== "closed") return 0;
    switch (caution.standing()) {
      case "unknown":
        return 0;
      case "away":
        return worker.busy() === 0 && (await queue.waiting()) < mostWaitingToTry ? 1 : 0;
      case "lets-in":
        return worker.busy() === 0 ? 1 : 0;
      case "answers":
        return concurrency;
    }
  };
  const worker = createWorker(
    queue,
    probe,
    (delivery, stopping, giveUp) =>
      runTurn(delivery, {
        log,
        probe,
        worker: name,
        retrySchedule,
        stopping,
        giveUp,
        work: (held, lease, books) =>
          sendMailing(held, lease, books, {
            contentStore,
            mailer: caution.mailer,
            pace,
            mailFrom,
            batchDelayMs,
            connections,
            stopping,
          }),
      }),
    { name, concurrency, keepEveryMs: queuePatienceMs / 3, mayTake },
    report,
  );
  mailer.onChange(worker.wake);
  return {
    ...worker,
    start: () => {
      caution.start();
      worker.start();
    },
    stop: async (withinMs) => {
      await worker.stop(withinMs);
      caution.stop();
    },
  };
}
