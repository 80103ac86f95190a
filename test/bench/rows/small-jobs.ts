import { type ColdAndWarm, coldAndWarm } from "../cold-and-warm.ts";
import { separateProcesses } from "../deployment.ts";
import type { HttpLoadResult } from "../load/http-load.ts";
import { type HttpLoad, startLoad, toPosting } from "../load/start-load.ts";
import { noBullmq, startBullmq, whatBullmqStores } from "../peers/bullmq/start-bullmq.ts";
import { type CpuMicros, countingCpu, sumOf } from "../process-usage.ts";
import type { Program } from "../program.ts";
import { figureOf, type Measurement, type Row } from "../row.ts";
import { startSink } from "../sink/start-sink.ts";
import { startWaybill } from "../start-waybill.ts";
import { mailing } from "../the-mail.ts";
import { describeCpu, describeLoad, describePeaks, describeRounds, toText } from "../wording.ts";

const clients = 32;

type Result = {
  readonly jobs: number;
  readonly jobsPerSecond: number;
  readonly posting: HttpLoadResult;
  readonly cpuMicros: CpuMicros | null;
};
/** Null where there is no Redis. */
type Round = { readonly waybill: Result; readonly bullmq: Result | null };

/** From the first POST to the last job completed, while the clients post as fast as they are answered. */
export const smallJobs: Measurement = {
  name: "jobs of one recipient, 32 clients",
  timeoutMs: 600_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const sink = await startSink(stage.lifecycle);
      const load = startLoad(stage.lifecycle);
      const waybill = await startWaybill(stage, sink, separateProcesses);
      const bullmq = await startBullmq(stage, sink);
      const runBoth = async (jobs: number): Promise<Round> => ({
        waybill: await run(waybill, load, jobs),
        bullmq: bullmq === null ? null : await run(bullmq, load, jobs),
      });
      const rounds = await coldAndWarm(
        count,
        () => runBoth(sizes.smallJobs),
        () => runBoth(sizes.smallJobsWarmUp),
      );
      const warmUp = `${toText(sizes.smallJobs)} jobs; warm-up: ${toText(sizes.smallJobsWarmUp)} more, of each program`;
      return toRow(rounds, [warmUp, ...toNotes(rounds), describePeaks(waybill.pids)]);
    }),
};

async function run(program: Program, load: HttpLoad, jobs: number): Promise<Result> {
  const { result, cpuMicros } = await countingCpu(program.pids, async () => {
    const startedAt = performance.now();
    const allEnded = program.ended(jobs);
    const posted = await load.ask(toPosting(program.port, program.path, mailing(1), jobs, clients));
    await allEnded;
    const jobsPerSecond = (jobs * 1000) / (performance.now() - startedAt);
    await program.settled();
    return { jobs, jobsPerSecond, posting: posted.result };
  });
  return { ...result, cpuMicros };
}

const cpuMs = ({ cpuMicros, jobs }: Result): number | null =>
  cpuMicros === null ? null : sumOf(cpuMicros) / jobs / 1000;

/** By BullMQ's, which may not be there. */
const ratio =
  (pick: (result: Result) => number | null) =>
  ({ waybill, bullmq }: Round): number | null => {
    const [ours, theirs] = [pick(waybill), bullmq === null ? null : pick(bullmq)];
    return ours === null || theirs === null ? null : ours / theirs;
  };

const toRow = (rounds: ColdAndWarm<Round>, notes: readonly string[]): Omit<Row, "name"> => ({
  figures: [
    figureOf(
      rounds,
      "jobs/s ÷ BullMQ's",
      ratio(({ jobsPerSecond }) => jobsPerSecond),
      { warm: { atLeast: 2 } },
    ),
    figureOf(rounds, "jobs/s", ({ waybill }) => waybill.jobsPerSecond),
    figureOf(rounds, "CPU a job, ms", ({ waybill }) => cpuMs(waybill), { warm: { atMost: 2.1 } }),
    figureOf(rounds, "CPU a job ÷ BullMQ's", ratio(cpuMs), { warm: { atMost: 0.5 } }),
    figureOf(
      rounds,
      "POST p99 ÷ BullMQ's",
      ratio(({ posting }) => posting.p99Ms),
      { warm: { atMost: 1 } },
    ),
    figureOf(rounds, "POST p50, ms", ({ waybill }) => waybill.posting.p50Ms),
    figureOf(rounds, "POST p99, ms", ({ waybill }) => waybill.posting.p99Ms),
  ],
  notes,
  rounds,
});

function toNotes({ cold, warm }: ColdAndWarm<Round>): readonly string[] {
  const describe = (name: string, pick: (round: Round) => Result | null): string => {
    const results = warm.flatMap((round) => pick(round) ?? []);
    const rates = [cold, ...warm].map((round) => pick(round)?.jobsPerSecond ?? 0);
    const cpu = describeCpu(
      results.map(({ cpuMicros, jobs }) => ({ cpuMicros, units: jobs })),
      "job",
    );
    return `${name}, jobs/s: ${describeRounds(rates)}; POST ${describeLoad(results.map(({ posting }) => posting))}; ${cpu}`;
  };
  return [
    describe("Waybill", ({ waybill }) => waybill),
    cold.bullmq === null ? noBullmq : `${describe("BullMQ", ({ bullmq }) => bullmq)}; ${whatBullmqStores}`,
  ];
}
