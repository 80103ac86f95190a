import { createApiClient } from "../../support/api-client.ts";
import { type ColdAndWarm, coldAndWarm } from "../cold-and-warm.ts";
import { type Deployment, separateProcesses } from "../deployment.ts";
import { fillJobs } from "../fill-jobs.ts";
import type { HttpLoadResult } from "../load/http-load.ts";
import { type HttpLoad, startLoad } from "../load/start-load.ts";
import { startBareKoa } from "../peers/start-peers.ts";
import { type CpuMicros, countingCpu } from "../process-usage.ts";
import { type Figure, figureOf, type Measurement } from "../row.ts";
import { runMailing } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import { startWaybill } from "../start-waybill.ts";
import { describeCpu, describeLoad, toText } from "../wording.ts";

const names = { one: "one job", first: "first page", deep: "last page, by cursor" } as const;
const kinds = ["one", "first", "deep"] as const;
const connections = 8;
const atMostMs = 5000;
const pageSize = 20;

type Kind = keyof typeof names;
type Question = { readonly kind: Kind; readonly ofWaybill: readonly string[]; readonly ofPeer: readonly string[] };
type Asked = { readonly waybill: HttpLoadResult; readonly cpuMicros: CpuMicros | null; readonly peer: HttpLoadResult };
type Round = Readonly<Record<Kind, Asked>>;

/** The same rows in the same tables, asked by Waybill's API and by an application that does nothing else. */
export const reads: Measurement = {
  name: "GET one job, and pages of the list",
  timeoutMs: 300_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const sink = await startSink(stage.lifecycle);
      const waybill = await startWaybill(stage, sink, separateProcesses);
      const { deployment } = waybill;
      const { mysqlUrl } = deployment.surroundings;
      // One real job, of which the others are copies.
      await runMailing(waybill, { jobs: 1, recipientsPerJob: 20 });
      const ids = await fillJobs(mysqlUrl, sizes.listedJobs);
      const koaPort = await startBareKoa(stage.lifecycle, mysqlUrl);
      const questions = await toQuestions(deployment, ids, sizes.listedJobs);
      const load = startLoad(stage.lifecycle);
      const askAll = () => ask(questions, load, deployment, koaPort, sizes.reads);
      const rounds = await coldAndWarm(count, askAll, askAll);
      const size = `of ${toText(sizes.listedJobs)} jobs, ${connections} connections; warm-up: ${toText(sizes.reads)} more of each`;
      return { figures: toFigures(rounds), notes: [size, ...toNotes(rounds)], rounds };
    }),
};

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

async function ask(
  questions: readonly Question[],
  load: HttpLoad,
  { port, pids }: Deployment,
  koaPort: number,
  requests: number,
): Promise<Round> {
  const get = async (to: number, paths: readonly string[]): Promise<HttpLoadResult> => {
    const how = { method: "GET", body: null, requests, atMostMs, connections, expectedStatus: 200 } as const;
    return (await load.ask({ ...how, port: to, paths })).result;
  };
  const asked: [Kind, Asked][] = [];
  for (const { kind, ofWaybill, ofPeer } of questions) {
    const { result: waybill, cpuMicros } = await countingCpu(pids, () => get(port, ofWaybill));
    asked.push([kind, { waybill, cpuMicros, peer: await get(koaPort, ofPeer) }]);
  }
  return Object.fromEntries(asked) as Round;
}

function toFigures(rounds: ColdAndWarm<Round>): readonly Figure[] {
  const byKoa = (kind: Kind): Figure =>
    figureOf(
      rounds,
      `${names[kind]} ÷ bare Koa's`,
      (round) => round[kind].waybill.perSecond / round[kind].peer.perSecond,
      { warm: { atLeast: 0.7 } },
    );
  const p99 = (kind: Kind): Figure =>
    figureOf(rounds, `${names[kind]}, p99, ms`, (round) => round[kind].waybill.p99Ms, { warm: { atMost: 20 } });
  return kinds.flatMap((kind) => [byKoa(kind), p99(kind)]);
}

const toNotes = ({ warm }: ColdAndWarm<Round>): readonly string[] =>
  kinds.map((kind) => {
    const asked = warm.map((round) => round[kind]);
    const cpu = describeCpu(
      asked.map(({ cpuMicros, waybill }) => ({ cpuMicros, units: waybill.requests })),
      "GET",
    );
    const [ours, theirs] = [asked.map(({ waybill }) => waybill), asked.map(({ peer }) => peer)];
    return `${names[kind]}: Waybill ${describeLoad(ours)}; bare Koa ${describeLoad(theirs)}; ${cpu}`;
  });
