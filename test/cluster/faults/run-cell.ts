import { setTimeout as pause } from "node:timers/promises";
import { lookBefore, untilEnded, untilProjected, violationsAfter } from "../../faults/aftermath.ts";
import { duplicatesAmong } from "../../faults/invariants.ts";
import { type LoadShape, startLoad, type Told } from "../../faults/load.ts";
import { repeatedForWorker } from "../../faults/staged-settings.ts";
import { eventually } from "../../support/eventually.ts";
import type { Elections } from "./elections.ts";
import type { ClusterFault } from "./fault.ts";
import { type Gap, longestGap, sinceElection } from "./gaps.ts";
import { lifeOfLatest } from "./latest-job.ts";
import type { ClusterStage } from "./stage.ts";
import { verifyLog } from "./verify-log.ts";

export type ClusterCellResult = {
  readonly fault: string;
  readonly jobs: number;
  readonly mails: number;
  readonly duplicates: number;
  readonly mayDouble: number;
  /** Without an accepted job, over all clients. */
  readonly without201: Gap;
  readonly withoutMail: Gap;
  /** The slowest answer of an API since the fault: a stage that has just begun is cold. */
  readonly slowestMs: number;
  /** From the return of the last node until every job had ended. */
  readonly healedMs: number;
  /** What clients were told besides success. */
  readonly trouble: string;
  /** Nothing where all invariants and bounds hold. */
  readonly violations: readonly string[];
};

/** Mailings that keep some workers busy, and a client's single mails beside them, which show how long nothing goes. */
const load: readonly LoadShape[] = [
  { recipientsPerJob: 1000, everyMs: 10_000, jobs: 1000, clients: 2 },
  { recipientsPerJob: 1, everyMs: 200, jobs: 100_000, clients: 6 },
];

const warmUpMs = 3000;
const afterwardsMs = 1000;
/** Nothing may be stuck so long after the last node is back. */
const healedWithinMs = 30_000;
/** What takes longer is a fault, and yet it makes a difference whether it ends at all. */
const endWithinMs = 150_000;
/**
 * The longest that all clients together may be without a 201, or without a mail. After the last word of a leader the other
 * nodes wait for 4 to 9 s before one of them stands for election: that is fixed in the source of NATS, and no client can
 * make it shorter. Where elections follow each other, or one fails, it takes longer: then a 201, or a mail, has to come so
 * soon after the last one.
 */
const usualBoundMs = 10_000;
const afterElectionMs = 2000;
const slowestAnswerMs = 2000;

/**
 * Load, fault, healing, and then a look at everything that must always hold. All times may be `slack` times as long: not
 * much can be said about them where other tests run on the same cores.
 */
export async function runClusterCell(
  stage: ClusterStage,
  fault: ClusterFault,
  seed: string,
  slack = 1,
): Promise<ClusterCellResult> {
  const before = await lookBefore(stage);
  stage.mailServer.forgetMails();
  const ownEndsBefore = ownEndsOf(stage).length;
  const jobs = startLoad(stage, fault.name, load);
  try {
    await untilMailed(stage);
    await pause(warmUpMs);
    await stage.log.read();
    const struckAt = performance.now();
    const toll = await fault.strike(stage, seed);
    const healedAt = performance.now();
    await pause(afterwardsMs);
    const stoppedAt = performance.now();
    await jobs.stop();
    const remains = await untilEnded(stage, jobs, before, endWithinMs);
    const healedMs = performance.now() - healedAt;
    const mayDouble = toll.killedWorkers * repeatedForWorker;
    const figures = {
      without201: longestGap(acceptancesIn(jobs.told), struckAt, stoppedAt, toll.excused),
      withoutMail: longestGap(arrivalsAt(stage), struckAt, stoppedAt, toll.excused),
      slowestMs: Math.max(0, ...jobs.told.filter(({ at }) => at >= struckAt).map(({ afterMs }) => afterMs)),
      healedMs,
    };
    return {
      fault: fault.name,
      jobs: remains.jobs.length,
      mails: remains.mails.length,
      duplicates: duplicatesAmong(remains.mails),
      mayDouble,
      ...figures,
      trouble: [...jobs.trouble].map(([word, count]) => `${count}× ${word}`).join(", "),
      violations: [
        ...brokenBounds(figures, stage.elections, fault.boundMs ?? usualBoundMs, slack),
        ...(healedMs > healedWithinMs * slack ? [lifeOfLatest(await stage.log.read())] : []),
        ...toll.violations,
        ...ownEndsOf(stage).slice(ownEndsBefore),
        ...(await untilProjected(stage, remains)),
        ...(await violationsAfter(stage, before, jobs, remains, mayDouble)),
        ...(await verifyLog(stage)),
      ],
    };
  } finally {
    // Of a cell that broke off, too: its load would go on for minutes, against what the next cell starts.
    void jobs.stop();
  }
}

const ownEndsOf = ({ processes }: ClusterStage): readonly string[] => processes.flatMap(({ ownEnds }) => ownEnds);

const untilMailed = ({ mailServer }: ClusterStage): Promise<void> =>
  eventually(() => {
    if (mailServer.mails.length === 0) throw new Error("No mail arrived before the fault");
  });

const acceptancesIn = (told: readonly Told[]): readonly number[] =>
  told.filter(({ word, isOfPost }) => isOfPost && word === "201").map(({ at }) => at);

const arrivalsAt = ({ mailServer }: ClusterStage): readonly number[] =>
  mailServer.mails.map(({ receivedAt }) => receivedAt.getTime() - performance.timeOrigin);

type Figures = Pick<ClusterCellResult, "without201" | "withoutMail" | "slowestMs" | "healedMs">;

function brokenBounds(figures: Figures, elections: Elections, boundMs: number, slack: number): string[] {
  const { without201, withoutMail, slowestMs, healedMs } = figures;
  const broken: string[] = [];
  const bound = (what: string, ms: number, mostMs: number): void => {
    const limitMs = mostMs * slack;
    if (ms > limitMs) broken.push(`${what} for ${(ms / 1000).toFixed(1)} s, longer than ${limitMs / 1000} s`);
  };
  const boundGap = (what: string, gap: Gap, among: readonly number[]): void => {
    const electedMs = sinceElection(gap, among);
    if (electedMs === null || electedMs > afterElectionMs * slack) bound(what, gap.countedMs, boundMs);
  };
  boundGap("no client was told 201", without201, elections.ofPosts());
  boundGap("no mail arrived", withoutMail, elections.ofMails());
  bound("a client waited for an answer", slowestMs, slowestAnswerMs);
  bound("jobs went on", healedMs, healedWithinMs);
  return broken;
}
