import { createApiClient } from "../../support/api-client.ts";
import { coldAndWarm } from "../cold-and-warm.ts";
import { type Deployment, deploy, surroundingsOn } from "../deployment.ts";
import { type CpuMicros, countingCpu } from "../process-usage.ts";
import { figureOf, type Measurement } from "../row.ts";
import { median, percentile } from "../statistics.ts";
import { describeCpu, toText } from "../wording.ts";
import { writeHistory } from "../write-history.ts";

const lineFeed = 0x0a;

type Counted<Result> = { readonly result: Result; readonly cpuMicros: CpuMicros | null };
type Round = {
  /** In ms, of each job. */
  readonly replayed: Counted<readonly number[]>;
  /** Events a second. */
  readonly fed: Counted<number>;
};

/** What the log itself answers, over HTTP: jobs of 1000 recipients one after the other, then everything as lines. */
export const history: Measurement = {
  name: "history of a job, feed of the log",
  timeoutMs: 300_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const deployment = await deploy(stage, await surroundingsOn(stage.ground), ["api"]);
      const { events } = await writeHistory(deployment.surroundings, sizes.projectedEvents);
      const jobs = await someJobs(deployment);
      const run = async (): Promise<Round> => ({
        replayed: await countingCpu(deployment.pids, () => replayEach(deployment, jobs)),
        fed: await countingCpu(deployment.pids, () => readFeed(deployment, events)),
      });
      const rounds = await coldAndWarm(count, run, async () => {});
      const { warm } = rounds;
      return {
        figures: [
          figureOf(rounds, "history, p99, ms", ({ replayed }) => percentile(replayed.result, 99), {
            warm: { atMost: 100 },
          }),
          figureOf(rounds, "history, p50, ms", ({ replayed }) => median(replayed.result)),
          figureOf(rounds, "feed, events/s", ({ fed }) => fed.result, { warm: { atLeast: 20_000 } }),
        ],
        notes: [
          `${jobs.length} times GET /api/jobs/:jobId/events of 1,000 recipients; then ${toText(events)} events as lines of JSON to one client`,
          describeCpu(
            warm.map(({ replayed: { cpuMicros, result } }) => ({ cpuMicros, units: result.length })),
            "history",
          ),
          describeCpu(
            warm.map(({ fed: { cpuMicros } }) => ({ cpuMicros, units: events })),
            "event of the feed",
          ),
        ],
        rounds,
      };
    }),
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

async function readFeed({ url }: Deployment, expected: number): Promise<number> {
  const startedAt = performance.now();
  const { body } = await fetch(`${url}/api/events?wait=0`, { headers: { Accept: "application/x-ndjson" } });
  if (body === null) throw new Error("The feed has no body");
  let events = 0;
  for await (const chunk of body) {
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) events += 1;
  }
  if (events !== expected) throw new Error(`The feed had ${events} of ${expected} events`);
  return (events * 1000) / (performance.now() - startedAt);
}
