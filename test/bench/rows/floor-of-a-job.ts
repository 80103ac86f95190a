import { coldAndWarm } from "../cold-and-warm.ts";
import { separateProcesses } from "../deployment.ts";
import { startLoad } from "../load/start-load.ts";
import { noBullmq, startBullmq } from "../peers/bullmq/start-bullmq.ts";
import { startFloor } from "../peers/floor/start-floor.ts";
import { figureOf, type Measurement } from "../row.ts";
import { clients, cpuMsOf, describeSmallJobs, runSmallJobs, type SmallJobs } from "../run-small-jobs.ts";
import { startSink } from "../sink/start-sink.ts";
import { startWaybill } from "../start-waybill.ts";
import { toText } from "../wording.ts";

/** BullMQ's is null where there is no Redis. */
type Round = { readonly floor: SmallJobs; readonly waybill: SmallJobs; readonly bullmq: SmallJobs | null };

/**
 * How much a job of one recipient takes at the least, by the design of Waybill: the same jobs as in the row before, done
 * by bare programs without any code of Waybill, which check, retry, log and measure nothing. What they do follows from
 * what a job is promised, and is done once for each:
 *
 * - The API stores the content, and then the job's creation, before it answers; then it puts a turn.
 * - The worker takes the turn, reads the content, stores start and claim before the mail, mails over a connection that it
 *   keeps, stores outcome and end together, and acknowledges the turn. Each entry is guarded by the one before.
 * - One reader reads all entries in order, and the contents, as the log holds no address; it writes the rows of each
 *   batch, and how far it has come, in one transaction.
 *
 * A target above the floor's own figure is out of reach of whatever keeps these promises on these servers. What Waybill
 * takes beyond the floor is its own: checks, retries, roles that the floor has not (scheduler, webhooks), metrics.
 */
export const floorOfAJob: Measurement = {
  name: "floor of a job of one recipient",
  timeoutMs: 600_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const sink = await startSink(stage.lifecycle);
      const load = startLoad(stage.lifecycle);
      const floor = await startFloor(stage, sink);
      const waybill = await startWaybill(stage, sink, separateProcesses);
      const bullmq = await startBullmq(stage, sink);
      const runAll = async (jobs: number): Promise<Round> => ({
        floor: await runSmallJobs(floor, load, jobs),
        waybill: await runSmallJobs(waybill, load, jobs),
        bullmq: bullmq === null ? null : await runSmallJobs(bullmq, load, jobs),
      });
      const rounds = await coldAndWarm(
        count,
        () => runAll(sizes.smallJobs),
        () => runAll(sizes.smallJobsWarmUp),
      );
      const figure = (what: string, pick: (round: Round) => number | null) => figureOf(rounds, what, pick);
      const byBullmq =
        (pick: (result: SmallJobs) => number | null) =>
        ({ floor, bullmq: peer }: Round): number | null => {
          const [least, theirs] = [pick(floor), peer === null ? null : pick(peer)];
          return least === null || theirs === null ? null : least / theirs;
        };
      return {
        figures: [
          figure("the floor's jobs/s", ({ floor: { jobsPerSecond } }) => jobsPerSecond),
          figure(
            "the floor's jobs/s ÷ BullMQ's",
            byBullmq(({ jobsPerSecond }) => jobsPerSecond),
          ),
          figure("the floor's CPU a job, ms", ({ floor: least }) => cpuMsOf(least)),
          figure("the floor's CPU a job ÷ BullMQ's", byBullmq(cpuMsOf)),
          figure("the floor's POST p99, ms", ({ floor: { posting } }) => posting.p99Ms),
          figure(
            "Waybill's jobs/s ÷ the floor's",
            ({ waybill: ours, floor: least }) => ours.jobsPerSecond / least.jobsPerSecond,
          ),
          figure("Waybill's CPU a job ÷ the floor's", ({ waybill: ours, floor: least }) => {
            const [used, needed] = [cpuMsOf(ours), cpuMsOf(least)];
            return used === null || needed === null ? null : used / needed;
          }),
        ],
        notes: [
          `${toText(sizes.smallJobs)} jobs, ${clients} clients; warm-up: ${toText(sizes.smallJobsWarmUp)} more, of each program`,
          describeSmallJobs("floor", rounds, ({ floor: least }) => least),
          describeSmallJobs("Waybill", rounds, ({ waybill: ours }) => ours),
          bullmq === null ? noBullmq : describeSmallJobs("BullMQ", rounds, ({ bullmq: peer }) => peer),
        ],
        rounds,
      };
    }),
};
