import { stateAfter } from "../../domain/job/decider.ts";
import type { EventLog, JobRef } from "../../event-log/event-log.ts";
import { isOutage } from "../../event-log/persistently.ts";
import { createPollLoop, type PollLoop } from "../../process/poll-loop.ts";
import type { QueuedTurn, Turns } from "../turns.ts";
import { type PutTurn, queuedAfter } from "./scheduler.ts";
import { createSlowStart } from "./slow-start.ts";
import type { WaitingList } from "./waiting-list.ts";

/** The jobs that a worker has, or may have at once, as the read models know them: those queued and those processing. */
export interface OpenJobs {
  /** Calls `act` with all of them, some at a time. */
  forSome(act: (jobs: readonly JobRef[]) => Promise<void>): Promise<void>;
}

type Ports = {
  readonly log: EventLog;
  readonly turns: Turns;
  readonly openJobs: OpenJobs;
  readonly waitingList: WaitingList;
};

export type MissingTurnsReport = {
  readonly failed: (failure: unknown) => void;
  /** The stream of turns was made again, and so many of the turns that it had lost were put. */
  readonly lost: (putAgain: number) => void;
};

/** How soon a queue of turns that was made again is noticed. */
const lookEveryMs = 2_000;
/** Then the read models may not know of the newest jobs yet, and the comparison is repeated after this. */
const againAfterMs = 5_000;
/** With very many turns one comparison takes long: the next one then waits, so that it takes a twentieth of the time. */
const pauseForWork = 20;
/** It may have seemed long because the process stood still. */
const longestPauseMs = 180_000;

/**
 * Puts the turns that are missing, at the start, once their stream was made again, and every minute: someone has deleted or
 * purged it, or a server has lost it. The read models say which jobs to look at, and the log what to put: a job that has
 * ended since, or waits for something, gets no turn. A turn too many starts nothing. Of a tenant that misses very many, all are
 * put only once they were lost, or begin: see createSlowStart.
 */
export function createMissingTurns(
  { log, turns, openJobs, waitingList }: Ports,
  put: PutTurn,
  report: MissingTurnsReport,
  compareEveryMs = 60_000,
): PollLoop {
  const slowStart = createSlowStart(log);
  let notBefore = 0;
  let madeAt: string | null | undefined;
  let isAnew = false;
  /** Answers how many were put. */
  const compare = async (stopping: AbortSignal): Promise<number> => {
    let putAgain = 0;
    const putIfOpen = async (job: JobRef): Promise<void> => {
      const turn = await openTurnOf(log, job).catch((failure: unknown) => {
        if (isOutage(failure)) throw failure;
        // Only a newer release can read it, or none: that keeps no other from its turn.
        report.failed(failure);
        return null;
      });
      if (turn === null) return;
      await put(turn);
      putAgain += 1;
    };
    const isThere = await turns.jobs();
    const isChosen = isAnew ? () => true : await slowStart.choose();
    const isToPut = (job: JobRef): boolean => !isThere(job) && isChosen(job);
    await waitingList.restore(isToPut);
    await openJobs.forSome(async (jobs) => {
      // Another process compares soon, and waits for this one to end.
      if (!stopping.aborted) await Promise.all(jobs.filter(isToPut).map(putIfOpen));
    });
    return putAgain;
  };
  const poll = async (stopping: AbortSignal): Promise<"done"> => {
    const begunAt = performance.now();
    const madeBefore = madeAt;
    madeAt = await turns.madeAt();
    if (madeBefore !== undefined && madeBefore !== madeAt) {
      isAnew = true;
      notBefore = 0;
    }
    if (begunAt < notBefore && !(await slowStart.haveBegun())) return "done";
    // Also after a failure, as with the database away: to list all turns at every look would be much work for nothing.
    let pauseMs = againAfterMs;
    try {
      const putAgain = await compare(stopping);
      if (!isAnew) pauseMs = slowStart.isPartial() ? compareEveryMs / 4 : compareEveryMs;
      else if (putAgain > 0) report.lost(putAgain);
      isAnew = false;
    } finally {
      const now = performance.now();
      notBefore = now + Math.max(pauseMs, Math.min(longestPauseMs, pauseForWork * (now - begunAt)));
    }
    return "done";
  };
  return createPollLoop({ poll, everyMs: Math.min(lookEveryMs, compareEveryMs), report: report.failed });
}

/** The turn that a worker may take now, whoever holds it; null for a job that waits, or has ended. */
async function openTurnOf(log: EventLog, job: JobRef): Promise<QueuedTurn | null> {
  const decisions = await log.readDecisions(job);
  const state = stateAfter(decisions.map(({ event }) => event));
  const last = decisions.at(-1);
  if (last === undefined || (state.status !== "pending" && state.status !== "processing")) return null;
  // A job of a group that has not begun may have to wait for another: the waiting list knows when it is due.
  if (state.status === "pending" && state.settings.groupSha256 !== null) return null;
  const { type, priority } = state.settings;
  return queuedAfter(last, { run: state.run, attempt: state.attempt, opening: state.opening, type, priority });
}
