import { setTimeout as pause } from "node:timers/promises";
import type { Instant } from "../domain/message.ts";
import type { Cause, JobRef } from "../event-log/event-log.ts";
import { isOutage } from "../event-log/persistently.ts";
import { createPollLoop, type PollLoop } from "../process/poll-loop.ts";
import type { ErasurePorts } from "./complete-erasure.ts";
import { eraseJob } from "./erase-job.ts";
import { createLeftOut } from "./left-out.ts";
import { retireMailing } from "./retire-mailing.ts";

/** The jobs and mailings that have ended, according to a read model. */
export interface EndedJobs {
  /** Milliseconds since 1970, by the clock of the database. */
  now(): Promise<number>;

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
  /** Is called with each job or mailing that cannot be erased, and is left out of the rounds for a while. */
  readonly notErased: (ref: JobRef, failure: unknown) => void;
  /** Is called with the failure of each round that broke off. */
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
 * read models have caught up, so that the next round finds other jobs. What cannot be erased, such as a job with an entry
 * that cannot be decoded, is left out of the rounds of the next hour, so that it does not hold up the others. Several processes
 * may do this at once, without gain and without harm: `alone` limits it to one.
 */
export function createRetention(
  ports: ErasurePorts,
  endedJobs: EndedJobs,
  alone: <Result>(work: () => Promise<Result>) => Promise<Result | null>,
  { keptMs, everyMs }: RetentionSettings,
  reports: RetentionReports,
): PollLoop {
  const leftOut = createLeftOut();
  /** Asks for more than a round takes, because the ones left out are the oldest and come first. */
  const notLeftOut = async (find: EndedJobs["before"], endedBefore: Instant): Promise<readonly JobRef[]> => {
    const found = await find(endedBefore, jobsInRound + leftOut.size());
    return found.filter((ref) => !leftOut.has(ref)).slice(0, jobsInRound);
  };
  const round = async (stopping: AbortSignal): Promise<"more" | "done"> => {
    // By the earlier of two clocks: what a host erases whose clock is years ahead does not come back.
    const now = Math.min(Date.now(), await endedJobs.now());
    const endedBefore = new Date(now - keptMs).toISOString();
    let last = 0;
    let failed = 0;
    /** Returns how many were erased. An outage ends the round, because it concerns all the others, too. */
    const eraseEach = async (refs: readonly JobRef[], erase: (ref: JobRef, at: Instant) => Promise<number | null>) => {
      let erased = 0;
      for (const ref of refs) {
        if (stopping.aborted) break;
        const sequence = await erase(ref, new Date().toISOString()).catch((failure: unknown) => {
          leftOut.add(ref);
          if (isOutage(failure)) throw failure;
          reports.notErased(ref, failure);
          failed += 1;
          return null;
        });
        if (sequence === null) continue;
        erased += 1;
        last = Math.max(last, sequence);
      }
      return erased;
    };
    const jobs = await eraseEach(await notLeftOut(endedJobs.before, endedBefore), async (job, at) => {
      const outcome = await eraseJob(ports, job, { isRetired: true, reason, cause, at });
      // The job was run again since the read model saw it end.
      return outcome.outcome === "rejected" ? null : outcome.sequence;
    });
    const resting = await notLeftOut(endedJobs.mailingsRestingBefore, endedBefore);
    const mailings = await eraseEach(resting, (mailing, at) =>
      retireMailing(ports, mailing, { restingBefore: endedBefore, reason, cause, at }),
    );
    if (jobs + mailings > 0) reports.erased({ jobs, mailings }, endedBefore);
    const isFollowed = await endedJobs.include(last);
    if (Math.max(jobs, mailings) + failed < jobsInRound || !isFollowed) return "done";
    await pause(betweenRoundsMs, undefined, { signal: stopping }).catch(() => {});
    return "more";
  };

  const poll = async (stopping: AbortSignal) => (await alone(() => round(stopping))) ?? "done";
  return createPollLoop({ poll, everyMs, report: reports.failed });
}
