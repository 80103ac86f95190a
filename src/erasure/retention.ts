import { setTimeout as pause } from "node:timers/promises";
import type { Instant } from "../domain/message.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { createPollLoop, type PollLoop } from "../poll-loop.ts";
import type { ErasurePorts } from "./complete-erasure.ts";
import { eraseJob } from "./erase-job.ts";

/** The jobs that have ended, according to a read model. */
export interface EndedJobs {
  /** At most `limit` jobs, of any tenant, that ended before this time and are still listed. */
  before(time: Instant, limit: number): Promise<readonly JobRef[]>;

  /** Whether the read model reaches that decision within the time that a round may take. */
  include(sequence: number): Promise<boolean>;
}

export type RetentionSettings = {
  readonly keptMs: number;
  /** The pause after a round that found nothing more to do. */
  readonly everyMs: number;
};

export type RetentionReports = {
  /** Is called after each round that erased something. */
  readonly erased: (jobs: number, endedBefore: string) => void;
  readonly failed: (failure: unknown) => void;
};

const cause: Cause = { actor: "retention", correlationId: null, causationId: null, traceparent: null };

/** Few enough not to slow down mails and requests: each job costs some messages to NATS, and one to a thousand rows in MySQL. */
const jobsInRound = 50;
const betweenRoundsMs = 250;

/**
 * Erases the content and recipients of jobs that ended long ago, and takes the jobs out of the read models, some at a
 * time; their events stay. A round waits until the read models have caught up, so that the next round finds other jobs.
 * Several processes may do this at once, without gain and without harm: `alone` limits it to one.
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
      // The job was run again since the read model saw it end.
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
