import { createApiClient } from "../../support/api-client.ts";
import { type Deployment, deploy, withServers } from "../deployment.ts";
import { type CpuMicros, countingCpu } from "../process-usage.ts";
import type { Measurement, Row } from "../row.ts";
import { median, percentile } from "../statistics.ts";
import { describeCpu, toText } from "../wording.ts";
import { writeHistory } from "../write-history.ts";

const names = { replay: "replay of one job", feed: "feed of the whole log" } as const;
const nowhere = "smtp://127.0.0.1:9";
const lineFeed = 0x0a;

type Counted<Result> = { readonly result: Result; readonly cpuMicros: CpuMicros | null };
type Fed = { readonly events: number; readonly seconds: number };
type Round = { readonly replayed: Counted<readonly number[]>; readonly fed: Counted<Fed> };

/** What the log itself answers, over HTTP: jobs of 1000 recipients one after the other, then everything as lines. */
export const historyMeasurement: Measurement = {
  rows: Object.values(names),
  timeoutMs: 300_000,
  measure: async ({ ground, lifecycle, sizes, rounds: count }) => {
    const deployment = await deploy(ground, lifecycle, nowhere, ["api"]);
    const { events } = await writeHistory(ground, deployment.prefix, sizes.projectedEvents);
    const jobs = await someJobs(deployment);
    const pids = withServers(ground, deployment);
    await replayEach(deployment, jobs);
    const rounds: Round[] = [];
    for (let round = 0; round < count; round += 1) {
      const replayed = await countingCpu(pids, () => replayEach(deployment, jobs));
      rounds.push({ replayed, fed: await countingCpu(pids, () => readFeed(deployment, events)) });
    }
    return [toReplayRow(rounds), toFeedRow(rounds)];
  },
};

async function someJobs({ url }: Deployment): Promise<readonly string[]> {
  const { body } = await createApiClient(url).get("/api/events?types=JobCreated&limit=40");
  return (body as { data: { jobId: string }[] }).data.map(({ jobId }) => jobId);
}

/** How long each took, in ms, to the last byte. */
async function replayEach({ url }: Deployment, jobs: readonly string[]): Promise<readonly number[]> {
  const times: number[] = [];
  for (const jobId of jobs) {
    const startedAt = performance.now();
    const answer = await fetch(`${url}/api/jobs/${jobId}/events`);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`The history of a job was answered with ${answer.status}`);
    times.push(performance.now() - startedAt);
  }
  return times;
}

async function readFeed({ url }: Deployment, expected: number): Promise<Fed> {
  const startedAt = performance.now();
  const { body } = await fetch(`${url}/api/events?wait=0`, { headers: { Accept: "application/x-ndjson" } });
  if (body === null) throw new Error("The feed has no body");
  let events = 0;
  for await (const chunk of body) {
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) events += 1;
  }
  if (events !== expected) throw new Error(`The feed had ${events} of ${expected} events`);
  return { events, seconds: (performance.now() - startedAt) / 1000 };
}

function toReplayRow(rounds: readonly Round[]): Row {
  const times = rounds.flatMap(({ replayed }) => replayed.result);
  return {
    name: names.replay,
    figures: [
      { what: "p99, ms", value: percentile(times, 99), atMost: 100 },
      { what: "p50, ms", value: median(times) },
    ],
    notes: [
      `${toText(times.length)} times GET /api/jobs/:jobId/events of 1,000 recipients, one after the other`,
      describeCpu(
        rounds.map(({ replayed: { cpuMicros, result } }) => ({ cpuMicros, units: result.length })),
        "replay",
      ),
    ],
    rounds: rounds.map(({ replayed }) => replayed),
  };
}

function toFeedRow(rounds: readonly Round[]): Row {
  const perSecond = rounds.map(({ fed }) => fed.result.events / fed.result.seconds);
  return {
    name: names.feed,
    figures: [{ what: "events/s", value: median(perSecond), atLeast: 20_000 }],
    notes: [
      `${toText(rounds[0]?.fed.result.events ?? 0)} events as lines of JSON to one client, from the first one on`,
      describeCpu(
        rounds.map(({ fed: { cpuMicros, result } }) => ({ cpuMicros, units: result.events })),
        "event",
      ),
    ],
    rounds: rounds.map(({ fed }) => fed),
  };
}
