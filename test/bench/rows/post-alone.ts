import { deploy, withServers } from "../deployment.ts";
import type { HttpLoadResult } from "../load/http-load.ts";
import { startLoad, toPosting } from "../load/start-load.ts";
import { startBareKoa } from "../peers/start-peers.ts";
import { type CpuMicros, countingCpu } from "../process-usage.ts";
import type { Measurement, Row } from "../row.ts";
import { median } from "../statistics.ts";
import { mailing } from "../the-mail.ts";
import { describeCpu, describeLoad, describePeaks } from "../wording.ts";

const name = "POST alone, no worker, 32 connections";
const connections = 32;
const atMostMs = 8000;
const nowhere = "smtp://127.0.0.1:9";

type Round = {
  readonly posting: HttpLoadResult;
  readonly cpuMicros: CpuMicros | null;
  readonly koa: HttpLoadResult;
};

/** A process with the API and nothing else; its peer inserts a row and checks nothing. */
export const postAloneMeasurement: Measurement = {
  rows: [name],
  timeoutMs: 120_000,
  measure: async ({ ground, lifecycle, sizes, rounds: count }) => {
    const load = startLoad(lifecycle);
    const koaPort = await startBareKoa(lifecycle, await ground.freshDatabase());
    const deployment = await deploy(ground, lifecycle, nowhere, ["api"]);
    const pids = withServers(ground, deployment);
    const postTo = async (port: number, path: string, requests: number): Promise<HttpLoadResult> =>
      (await load.ask(toPosting(port, path, mailing(1), requests, connections, atMostMs))).result;
    const runRound = async (posts: number): Promise<Round> => {
      const { result: posting, cpuMicros } = await countingCpu(pids, () => postTo(deployment.port, "/api/jobs", posts));
      return { posting, cpuMicros, koa: await postTo(koaPort, "/jobs", posts) };
    };
    await runRound(Math.round(sizes.posts / 4));
    const rounds: Round[] = [];
    for (let round = 0; round < count; round += 1) rounds.push(await runRound(sizes.posts));
    return [toRow(rounds, describePeaks(pids))];
  },
};

function toRow(rounds: readonly Round[], peaks: string): Row {
  const middle = (pick: (round: Round) => number): number => median(rounds.map(pick));
  return {
    name,
    figures: [
      { what: "POST/s", value: middle(({ posting }) => posting.perSecond), atLeast: 2000 },
      { what: "p99, ms", value: middle(({ posting }) => posting.p99Ms), atMost: 30 },
      { what: "× bare Koa + INSERT", value: middle(({ posting, koa }) => posting.perSecond / koa.perSecond) },
    ],
    notes: [
      `Waybill ${describeLoad(rounds.map(({ posting }) => posting))}`,
      `bare Koa with one INSERT ${describeLoad(rounds.map(({ koa }) => koa))}`,
      describeCpu(
        rounds.map(({ cpuMicros, posting }) => ({ cpuMicros, units: posting.requests })),
        "POST",
      ),
      peaks,
    ],
    rounds,
  };
}
