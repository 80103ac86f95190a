import { setTimeout as pause } from "node:timers/promises";
import type { Instant } from "../domain/message.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { createPollLoop, type PollLoop } from "../process/poll-loop.ts";
import type { ErasurePorts } from "./complete-erasure.ts";
import { eraseJob } from "./erase-job.ts";
import { retireMailing } from "./retire-mailing.ts";

/** The jobs and mailings that have ended, according to a read model. */
export interface EndedJobs {
  /** At most `limit` jobs, of any tenant, that ended before this time and are still listed. */
  before(time: Instant, limit: number): Promise<readonly JobRef[]>;

  /** At most `limit` mailings, of any tenant, for which there was nothing to do since before this time. */
  mailingsRestingBefore(time: Instant, limit: number): Promise<readonly JobRef[]>;

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
  readonly erased: (erased: { readonly jobs: number; readonly mailings: number }, endedBefore: string) => void;
  readonly failed: (failure: unknown) => void;
};

const cause: Cause = { actor: "retention", correlationId: null, causationId: null, traceparent: null };

const reason = "retention";

/** Few enough not to slow down mails and requests: each job costs some messages to NATS, and one to a thousand rows in MySQL. */
const jobsInRound = 50;
const betweenRoundsMs = 250;

/**
 * Erases the content and recipients of jobs that ended long ago, and removes the jobs from the read models, some at a
 * time; their events stay. It does the same to mailings that ended long ago, and to old drafts. A round waits until the
 * read models have caught up, so that the next round finds other jobs. Several processes may do this at once, without gain
 * and without harm: `alone` limits it to one.
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
    let last = 0;
    /** Returns how many were erased. */
    const eraseEach = async (refs: readonly JobRef[], erase: (ref: JobRef, at: Instant) => Promise<number | null>) => {
      let erased = 0;
      for (const ref of refs) {
        if (stopping.aborted) break;
        const sequence = await erase(ref, new Date().toISOString());
        if (sequence === null) continue;
        erased += 1;
        last = Math.max(last, sequence);
      }
      return erased;
    };
    const jobs = await eraseEach(await endedJobs.before(endedBefore, jobsInRound), async (job, at) => {
      const outcome = await eraseJob(ports, job, { isRetired: true, reason, cause, at });
      // The job was run again since the read model saw it end.
      return outcome.outcome === "rejected" ? null : outcome.sequence;
    });
    const resting = await endedJobs.mailingsRestingBefore(endedBefore, jobsInRound);
    const mailings = await eraseEach(resting, (mailing, at) =>
      retireMailing(ports, mailing, { restingBefore: endedBefore, reason, cause, at }),
    );
    if (jobs + mailings > 0) reports.erased({ jobs, mailings }, endedBefore);
    const isFollowed = await endedJobs.include(last);
    if (Math.max(jobs, mailings) < jobsInRound || !isFollowed) return "done";
    await pause(betweenRoundsMs, undefined, { signal: stopping }).catch(() => {});
    return "more";
  };

  const poll = async (stopping: AbortSignal) => (await alone(() => round(stopping))) ?? "done";
  return createPollLoop({ poll, everyMs, report: reports.failed });
}
