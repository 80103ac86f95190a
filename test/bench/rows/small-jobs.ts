import { type ColdAndWarm, coldAndWarm } from "../cold-and-warm.ts";
import { separateProcesses } from "../deployment.ts";
import { startLoad } from "../load/start-load.ts";
import { noBullmq, startBullmq, whatBullmqStores } from "../peers/bullmq/start-bullmq.ts";
import { figureOf, type Measurement, type Row } from "../row.ts";
import { clients, cpuMsOf, describeSmallJobs, runSmallJobs, type SmallJobs } from "../run-small-jobs.ts";
import { startSink } from "../sink/start-sink.ts";
import { startWaybill } from "../start-waybill.ts";
import { describePeaks, toText } from "../wording.ts";

/** Null where there is no Redis. */
type Round = { readonly waybill: SmallJobs; readonly bullmq: SmallJobs | null };

/** From the first POST to the last job completed, while the clients post as fast as they are answered. */
export const smallJobs: Measurement = {
  name: `jobs of one recipient, ${clients} clients`,
  timeoutMs: 600_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const sink = await startSink(stage.lifecycle);
      const load = startLoad(stage.lifecycle);
      const waybill = await startWaybill(stage, sink, separateProcesses);
      const bullmq = await startBullmq(stage, sink);
      const runBoth = async (jobs: number): Promise<Round> => ({
        waybill: await runSmallJobs(waybill, load, jobs),
        bullmq: bullmq === null ? null : await runSmallJobs(bullmq, load, jobs),
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

/** By BullMQ's, which may not be there. */
const ratio =
  (pick: (result: SmallJobs) => number | null) =>
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
    figureOf(rounds, "CPU a job, ms", ({ waybill }) => cpuMsOf(waybill), { warm: { atMost: 2.1 } }),
    figureOf(rounds, "CPU a job ÷ BullMQ's", ratio(cpuMsOf), { warm: { atMost: 0.5 } }),
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

function toNotes(rounds: ColdAndWarm<Round>): readonly string[] {
  const bullmq = describeSmallJobs("BullMQ", rounds, ({ bullmq }) => bullmq);
  return [
    describeSmallJobs("Waybill", rounds, ({ waybill }) => waybill),
    rounds.cold.bullmq === null ? noBullmq : `${bullmq}; ${whatBullmqStores}`,
  ];
}
