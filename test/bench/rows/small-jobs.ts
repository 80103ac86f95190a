import { deploy, separateProcesses, withServers } from "../deployment.ts";
import type { HttpLoadResult } from "../load/http-load.ts";
import { type HttpLoad, startLoad, toPosting } from "../load/start-load.ts";
import { startClassicDesign } from "../peers/start-peers.ts";
import { type CpuMicros, countingCpu } from "../process-usage.ts";
import type { Bench, Measurement, Row } from "../row.ts";
import { type Watched, watch } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import { median } from "../statistics.ts";
import { mailing } from "../the-mail.ts";
import { describeCpu, describeLoad, describePeaks, toText } from "../wording.ts";

const name = "jobs of one recipient, 32 clients";
const clients = 32;

type Round = {
  readonly jobsPerSecond: number;
  readonly posting: HttpLoadResult;
  readonly cpuMicros: CpuMicros | null;
  readonly classicJobsPerSecond: number;
};

/** From the first POST to the last job completed, while the clients post as fast as they are answered. */
export const smallJobsMeasurement: Measurement = {
  rows: [name],
  timeoutMs: 240_000,
  measure: async (bench) => {
    const { ground, lifecycle, sizes } = bench;
    const sink = await startSink(lifecycle);
    const load = startLoad(lifecycle);
    const classic = startClassicDesign(lifecycle);
    const mysqlUrl = await ground.freshDatabase();
    const watched = await watch(bench, await deploy(ground, lifecycle, sink.url, separateProcesses));
    const classicJobs = Math.round(sizes.smallJobs / 5);
    const runClassic = async (): Promise<number> => {
      const order = { mysqlUrl, port: sink.port, jobs: classicJobs, recipientsPerJob: 1 };
      return classicJobs / (await classic.ask(order)).seconds;
    };
    await post(bench, watched, load, Math.round(sizes.smallJobs / 5));
    await runClassic();
    const rounds: Round[] = [];
    for (let round = 0; round < bench.rounds; round += 1) {
      rounds.push({ ...(await post(bench, watched, load, sizes.smallJobs)), classicJobsPerSecond: await runClassic() });
    }
    const pids = withServers(ground, watched.deployment);
    return [toRow(rounds, sizes.smallJobs, describePeaks(pids))];
  },
};

async function post({ ground }: Bench, { deployment, ended, progress }: Watched, load: HttpLoad, jobs: number) {
  const { result, cpuMicros } = await countingCpu(withServers(ground, deployment), async () => {
    const startedAt = performance.now();
    const allEnded = ended.next(jobs);
    const posted = await load.ask(toPosting(deployment.port, "/api/jobs", mailing(1), jobs, clients));
    await allEnded;
    const jobsPerSecond = (jobs * 1000) / (performance.now() - startedAt);
    await progress.caughtUp();
    return { jobsPerSecond, posting: posted.result };
  });
  return { ...result, cpuMicros };
}

function toRow(rounds: readonly Round[], jobs: number, peaks: string): Row {
  const middle = (pick: (round: Round) => number): number => median(rounds.map(pick));
  const classic = middle(({ classicJobsPerSecond }) => classicJobsPerSecond);
  return {
    name,
    figures: [
      { what: "jobs/s end to end", value: middle(({ jobsPerSecond }) => jobsPerSecond), atLeast: 800 },
      { what: "POST p50, ms", value: middle(({ posting }) => posting.p50Ms), atMost: 8 },
      { what: "POST p99, ms", value: middle(({ posting }) => posting.p99Ms), atMost: 40 },
      { what: "× classic design, jobs/s", value: middle((round) => round.jobsPerSecond / round.classicJobsPerSecond) },
    ],
    notes: [
      `${toText(jobs)} jobs; classic design ${toText(classic)} jobs/s`,
      `POST ${describeLoad(rounds.map(({ posting }) => posting))}`,
      describeCpu(
        rounds.map(({ cpuMicros }) => ({ cpuMicros, units: jobs })),
        "job",
      ),
      peaks,
    ],
    rounds,
  };
}
