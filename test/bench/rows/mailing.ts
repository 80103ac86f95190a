import { roles } from "../../../src/config.ts";
import { deploy, separateProcesses, withServers } from "../deployment.ts";
import { startBareLoop, startClassicDesign } from "../peers/start-peers.ts";
import { countingCpu, type Pids, sumOf } from "../process-usage.ts";
import type { Bench, Measurement } from "../row.ts";
import { type MailingResult, runMailing, type Watched, watch } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import { type MailingRound, toCpuRow, toSpeedRow } from "./mailing-figures.ts";

const separate = "a mailing, each role in a process of its own";
const oneProcess = "a mailing, all roles in one process";
const cpu = "CPU of a mailing, each role in a process of its own";

const ofSeparate = (round: MailingRound): MailingResult => round.separate;
const ofOneProcess = (round: MailingRound): MailingResult => round.oneProcess;

/** Every program mails to the same sink, in turn, and is idle while another one mails. */
export const mailingMeasurement: Measurement = {
  rows: [separate, oneProcess, cpu],
  timeoutMs: 360_000,
  measure: async (bench) => {
    const stage = await openStage(bench);
    await stage.warmUp();
    const rounds: MailingRound[] = [];
    for (let round = 0; round < bench.rounds; round += 1) rounds.push(await stage.runRound());
    return [
      toSpeedRow(separate, rounds, ofSeparate, { atLeast: 2, pids: stage.separatePids }),
      toSpeedRow(oneProcess, rounds, ofOneProcess, { atLeast: 1.2, pids: stage.oneProcessPids }),
      toCpuRow(cpu, rounds, ofSeparate, stage.sinkName),
    ];
  },
};

async function openStage(bench: Bench) {
  const { ground, lifecycle, sizes } = bench;
  const { mailing, warmUpMails, classicMails } = sizes;
  const sink = await startSink(lifecycle);
  const bareLoop = startBareLoop(lifecycle);
  const classic = startClassicDesign(lifecycle);
  const mysqlUrl = await ground.freshDatabase();
  const separated = await watch(bench, await deploy(ground, lifecycle, sink.url, separateProcesses));
  const united = await watch(bench, await deploy(ground, lifecycle, sink.url, [roles.join(",")]));
  const sinkPid: Pids = new Map([["sink", sink.pid]]);

  const runBare = async (mails: number): Promise<MailingRound["bare"]> => {
    const { seconds, cpuMicros } = await bareLoop.ask({ port: sink.port, mails });
    return { mailsPerSecond: mails / seconds, cpuMicrosPerMail: cpuMicros / mails };
  };
  const runClassic = async (mails: number): Promise<number> => {
    const order = { mysqlUrl, port: sink.port, jobs: 1, recipientsPerJob: mails };
    return mails / (await classic.ask(order)).seconds;
  };
  const run = (watched: Watched): Promise<MailingResult> => runMailing(bench, watched, mailing);
  const mails = mailing.jobs * mailing.recipientsPerJob;

  return {
    sinkName: sink.name,
    separatePids: withServers(ground, separated.deployment),
    oneProcessPids: withServers(ground, united.deployment),
    warmUp: async () => {
      await runBare(warmUpMails);
      await runClassic(warmUpMails / 10);
      const shape = { jobs: 5, recipientsPerJob: Math.min(1000, warmUpMails / 5) };
      for (const watched of [separated, united]) await runMailing(bench, watched, shape);
    },
    runRound: async (): Promise<MailingRound> => {
      const { result: bare, cpuMicros } = await countingCpu(sinkPid, () => runBare(mails));
      return {
        mails,
        bare,
        sinkMicrosPerMail: cpuMicros === null ? null : sumOf(cpuMicros) / mails,
        separate: await run(separated),
        oneProcess: await run(united),
        classicMailsPerSecond: await runClassic(classicMails),
      };
    },
  };
}
