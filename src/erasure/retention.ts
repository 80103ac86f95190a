import { setTimeout as pause } from "node:timers/promises";
import type { Instant } from "../domain/message.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { createPollLoop, type PollLoop } from "../poll-loop.ts";
import type { ErasurePorts } from "./complete-erasure.ts";
import { eraseJob } from "./erase-job.ts";

/** The jobs that are over, as a read model knows them. */
export interface EndedJobs {
  /** Some of those that ended before then and are still listed, of whatever tenant; at most `limit`. */
  before(time: Instant, limit: number): Promise<readonly JobRef[]>;

  /** Whether it comes as far as that decision in the time that a round may take. */
  include(sequence: number): Promise<boolean>;
}

export type RetentionSettings = {
  readonly keptMs: number;
  /** Between two rounds of which the first has found nothing more to do. */
  readonly everyMs: number;
};

export type RetentionReports = {
  /** Of each round that has erased something. */
  readonly erased: (jobs: number, endedBefore: string) => void;
  readonly failed: (failure: unknown) => void;
};

const cause: Cause = { actor: "retention", correlationId: null, causationId: null, traceparent: null };

/** Few enough that mails and requests do not feel it: each is some messages to NATS and a row or a thousand in MySQL. */
const jobsInRound = 50;
const betweenRoundsMs = 250;

/**
 * Erases what jobs that ended long ago have sent and to whom, and takes them out of the read models, some at a time;
 * their events stay. A round waits until the read models have followed, so none gets ahead of them, and the next one
 * finds other jobs. Several processes may do it at once, without use and without harm: `alone` keeps it to one.
 */
export function createRetention(
  ports: ErasurePorts,
  endedJobs: EndedJobs,
  alone: <Result>(work: () => Promise<Result>) => Promise<Result | null>,
  { keptMs, everyMs }: RetentionSettings,
  reports: RetentionReports,
): PollLoop {
  const round = async (stopping: AbortSignal): Promise<"more" | "done"> => {
    const now = Date.now();
    const endedBefore = new Date(now - keptMs).toISOString();
    const jobs = await endedJobs.before(endedBefore, jobsInRound);
    let erased = 0;
    let last = 0;
    for (const job of jobs) {
      if (stopping.aborted) break;
      const at = new Date().toISOString();
      const outcome = await eraseJob(ports, job, { isRetired: true, reason: "retention", cause, at });
      // Run again since the read model saw it: it is not over after all.
      if (outcome.outcome === "rejected") continue;
      erased += 1;
      last = Math.max(last, outcome.sequence);
    }
    if (erased > 0) reports.erased(erased, endedBefore);
    const isFollowed = await endedJobs.include(last);
    if (erased < jobsInRound || !isFollowed) return "done";
    await pause(betweenRoundsMs, undefined, { signal: stopping }).catch(() => {});
    return "more";
  };

  const poll = async (stopping: AbortSignal) => (await alone(() => round(stopping))) ?? "done";
  return createPollLoop({ poll, everyMs, report: reports.failed });
}
