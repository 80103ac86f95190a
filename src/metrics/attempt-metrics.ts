import { Histogram, type Registry } from "prom-client";
import { type JobRef, keyOf, type WaybillEvent } from "../event-log/event-log.ts";
import type { WorkQueue } from "../turns/work-queue.ts";
import { named } from "./registry.ts";

export type AttemptMetrics = {
  /** Wraps the queue and remembers how long each turn had waited when it was taken. */
  measure(queue: WorkQueue): WorkQueue;
  /** Called with each event that this process stores: the worker that begins an attempt also records its end. */
  readonly appended: (job: JobRef, event: WaybillEvent) => void;
};

/** Attempts that another worker took over never end in this process, so the oldest are dropped. */
const mostAtOnce = 10_000;

export function createAttemptMetrics(registry: Registry): AttemptMetrics {
  const registers = [registry];
  const duration = new Histogram({
    ...named("job_duration_seconds", "Time from the start of an attempt of a job to its end, by outcome."),
    labelNames: ["event"],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200],
    registers,
  });
  const wait = new Histogram({
    ...named(
      "message_wait_seconds",
      "How long the mails of a job waited for a worker, from queued to the first attempt.",
    ),
    labelNames: ["priority"],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 21_600],
    registers,
  });
  const queued = new Map<string, { readonly sinceMs: number; readonly priority: string }>();
  const began = new Map<string, number>();

  const start = (key: string): void => {
    remember(began, key, performance.now());
    const turn = queued.get(key);
    if (turn === undefined) return;
    queued.delete(key);
    wait.observe({ priority: turn.priority }, Math.max(0, (Date.now() - turn.sinceMs) / 1000));
  };
  const end = (key: string, event: string): void => {
    const beganAt = began.get(key);
    if (beganAt === undefined) return;
    began.delete(key);
    duration.observe({ event }, (performance.now() - beganAt) / 1000);
  };

  return {
    measure: (queue) => ({
      ...queue,
      take: async (limit, inHand) => {
        const deliveries = await queue.take(limit, inHand);
        for (const { turn, putAtMs } of deliveries) {
          if (turn.attempt === 1) remember(queued, keyOf(turn), { sinceMs: putAtMs, priority: turn.priority });
        }
        return deliveries;
      },
    }),
    appended: (job, { type }) => {
      const key = keyOf(job);
      if (type === "JobStarted") start(key);
      const event = ends[type];
      if (event !== undefined) end(key, event);
    },
  };
}

function remember<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > mostAtOnce ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}

const ends: Partial<Record<WaybillEvent["type"], string>> = {
  JobCompleted: "completed",
  JobFailed: "failed",
  JobRetryScheduled: "retry_scheduled",
};
