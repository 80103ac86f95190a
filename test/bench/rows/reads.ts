import { createApiClient } from "../../support/api-client.ts";
import { type Deployment, deploy, separateProcesses, withServers } from "../deployment.ts";
import { fillJobs } from "../fill-jobs.ts";
import type { HttpLoadResult } from "../load/http-load.ts";
import { type HttpLoad, startLoad } from "../load/start-load.ts";
import { startBareKoa } from "../peers/start-peers.ts";
import { type CpuMicros, countingCpu, type Pids } from "../process-usage.ts";
import type { Bench, Figure, Measurement, Row } from "../row.ts";
import { watch } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import { median } from "../statistics.ts";
import { mailing } from "../the-mail.ts";
import { describeCpu, describeLoad, toText } from "../wording.ts";

const names = {
  one: "GET one job",
  first: "GET the list, page 1",
  deep: "GET the list, by cursor at the end",
} as const;
const connections = 8;
const atMostMs = 5000;
const pageSize = 20;

type Kind = keyof typeof names;
type Question = { readonly kind: Kind; readonly ofWaybill: readonly string[]; readonly ofPeer: readonly string[] };
type Asked = { readonly waybill: HttpLoadResult; readonly cpuMicros: CpuMicros | null; readonly peer: HttpLoadResult };
type Round = Readonly<Record<Kind, Asked>>;

/** The same rows in the same tables, asked by Waybill's API and by an application that does nothing else. */
export const readsMeasurement: Measurement = {
  rows: Object.values(names),
  timeoutMs: 240_000,
  measure: async (bench) => {
    const { ground, lifecycle, sizes } = bench;
    const sink = await startSink(lifecycle);
    const deployment = await deploy(ground, lifecycle, sink.url, separateProcesses);
    await mailOnce(bench, deployment);
    const ids = await fillJobs(deployment.mysqlUrl, sizes.listedJobs);
    const koaPort = await startBareKoa(lifecycle, deployment.mysqlUrl);
    const questions = await toQuestions(deployment, ids, sizes.listedJobs);
    const load = startLoad(lifecycle);
    const pids = withServers(ground, deployment);
    const ask = (requests: number) => askAll(questions, load, deployment.port, koaPort, pids, requests);
    await ask(Math.round(sizes.reads / 8));
    const rounds: Round[] = [];
    for (let round = 0; round < bench.rounds; round += 1) rounds.push(await ask(sizes.reads));
    return toRows(rounds, sizes.listedJobs);
  },
};

/** One real job, of which the others are copies. */
async function mailOnce(bench: Bench, deployment: Deployment): Promise<void> {
  const { ended, progress } = await watch(bench, deployment);
  const end = ended.next(1);
  await createApiClient(deployment.url).create(mailing(20));
  await end;
  await progress.caughtUp();
}

async function toQuestions({ url }: Deployment, ids: readonly string[], jobs: number): Promise<Question[]> {
  const some = ids.filter((_, index) => index % Math.ceil(ids.length / 997) === 0);
  const beforeLast = Math.floor(jobs / pageSize) - 2;
  const { body } = await createApiClient(url).get(`/api/jobs?page=${beforeLast}&pageSize=${pageSize}`);
  const { data, pagination } = body as {
    data: { id: string; createdAt: string }[];
    pagination: { nextCursor: string | null };
  };
  const last = data.at(-1);
  if (last === undefined || pagination.nextCursor === null)
    throw new Error(`There is no page ${beforeLast} of ${jobs} jobs`);
  return [
    { kind: "one", ofWaybill: some.map((id) => `/api/jobs/${id}`), ofPeer: some.map((id) => `/jobs/${id}`) },
    { kind: "first", ofWaybill: [`/api/jobs?pageSize=${pageSize}`], ofPeer: ["/jobs"] },
    {
      kind: "deep",
      ofWaybill: [`/api/jobs?pageSize=${pageSize}&cursor=${pagination.nextCursor}`],
      ofPeer: [`/jobs?after=${last.createdAt}&id=${last.id}`],
    },
  ];
}

async function askAll(
  questions: readonly Question[],
  load: HttpLoad,
  port: number,
  koaPort: number,
  pids: Pids,
  requests: number,
): Promise<Round> {
  const get = async (to: number, paths: readonly string[]): Promise<HttpLoadResult> => {
    const order = {
      port: to,
      method: "GET",
      paths,
      body: null,
      requests,
      atMostMs,
      connections,
      expectedStatus: 200,
    } as const;
    return (await load.ask(order)).result;
  };
  const asked: [Kind, Asked][] = [];
  for (const { kind, ofWaybill, ofPeer } of questions) {
    const { result: waybill, cpuMicros } = await countingCpu(pids, () => get(port, ofWaybill));
    asked.push([kind, { waybill, cpuMicros, peer: await get(koaPort, ofPeer) }]);
  }
  return Object.fromEntries(asked) as Round;
}

function toRows(rounds: readonly Round[], jobs: number): Row[] {
  const middle = (pick: (round: Round) => number): number => median(rounds.map(pick));
  const deepToFirst: Figure = {
    what: "× page 1, pages/s",
    value: middle(({ deep, first }) => deep.waybill.perSecond / first.waybill.perSecond),
    // The two are measured one after the other: this much is noise.
    atLeast: 0.95,
  };
  return (["one", "first", "deep"] as const).map((kind) => ({
    name: names[kind],
    figures: [
      {
        what: "× bare Koa + select, answers/s",
        value: middle((round) => round[kind].waybill.perSecond / round[kind].peer.perSecond),
        atLeast: 0.7,
      },
      { what: "p99, ms", value: middle((round) => round[kind].waybill.p99Ms), atMost: 20 },
      ...(kind === "deep" ? [deepToFirst] : []),
    ],
    notes: [
      `of ${toText(jobs)} jobs, ${connections} connections`,
      `Waybill ${describeLoad(rounds.map((round) => round[kind].waybill))}`,
      `bare Koa ${describeLoad(rounds.map((round) => round[kind].peer))}`,
      describeCpu(
        rounds.map((round) => ({ cpuMicros: round[kind].cpuMicros, units: round[kind].waybill.requests })),
        "GET",
      ),
    ],
    rounds: rounds.map((round) => round[kind]),
  }));
}
