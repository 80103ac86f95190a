import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { NatsConfig } from "../../../src/config.ts";
import type { Surroundings } from "../../support/waybill.ts";
import { askOldJobs, type OldJobs } from "../aged/ask-old-jobs.ts";
import { type PostedToLog, postToLog } from "../aged/post-to-log.ts";
import { startUnsyncedNats } from "../aged/unsynced-nats.ts";
import { type AgedLog, writeAgedLog } from "../aged/write-aged-log.ts";
import { surroundingsOn } from "../deployment.ts";
import { startNats } from "../ground.ts";
import { residentMbOf } from "../process-usage.ts";
import { type Bench, type Figure, figureOf, type Measurement, type Stage } from "../row.ts";
import { percentile } from "../statistics.ts";
import { toText } from "../wording.ts";

const askedJobs = 2000;
/** NATS remembers ids for two minutes, and the writer's are more than a service ever has in that time. */
const forgetsIdsMs = 125_000;
const fewJobs = 100_000;

type Memory = {
  readonly empty: number;
  readonly written: number;
  readonly restarted: number;
  readonly atTheEnd: number;
};
type Measured = {
  readonly written: AgedLog;
  readonly young: PostedToLog;
  readonly aged: PostedToLog;
  readonly asked: OldJobs;
  /** Of nats-server, in MB. */
  readonly memory: Memory;
};

/** Everything that has to be as fast with a long past as without one. */
export const agedLog: Measurement = {
  name: "a log of 2,000,000 jobs",
  timeoutMs: 3_600_000,
  measure: (bench) =>
    bench.onFreshServers(async (stage) => {
      const measured = await measure(bench, stage);
      return { figures: toFigures(measured, bench.sizes.agedJobs), notes: toNotes(measured), rounds: measured };
    }),
};

async function measure(bench: Bench, stage: Stage): Promise<Measured> {
  const { ground, lifecycle } = stage;
  const empty = mbOf(ground.nats.pid);
  const young = await postToLog(bench, stage, await surroundingsOn(ground));

  const folder = join(ground.nats.folder, "aged");
  const surroundings = await surroundingsOn(ground);
  const on = (config: NatsConfig): Surroundings => ({ ...surroundings, nats: { ...surroundings.nats, config } });
  const writing = await startUnsyncedNats(folder, ground.nats.binary, lifecycle);
  const written = await writeAgedLog(on(writing.config), bench.sizes.agedJobs, askedJobs);
  const writtenMb = mbOf(writing.pid);
  await writing.stop();
  if (bench.sizes.agedJobs > fewJobs) await pause(forgetsIdsMs);

  const nats = await startNats(folder, ground.nats.binary, lifecycle);
  const restarted = mbOf(nats.pid);
  const aged = await postToLog(bench, stage, on(nats.config));
  const asked = await askOldJobs(aged.apiUrl, written.jobIds, bench.rounds);
  return { written, young, aged, asked, memory: { empty, written: writtenMb, restarted, atTheEnd: mbOf(nats.pid) } };
}

/** 0 where the system does not tell. */
const mbOf = (pid: number): number => residentMbOf(pid) ?? 0;

function toFigures({ young, aged, asked, memory }: Measured, jobs: number): readonly Figure[] {
  const ready = [...aged.ready.values()];
  const slowest = { cold: Math.max(...ready.map(({ cold }) => cold)), warm: ready.flatMap(({ warm }) => warm) };
  const perMillion = (mb: number): number => ((mb - memory.empty) * 1_000_000) / jobs;
  const p = (percent: number) => (times: readonly number[]) => percentile(times, percent);
  return [
    {
      what: "start to ready, slowest role, s",
      cold: slowest.cold,
      warm: Math.max(...slowest.warm),
      targets: { warm: { atMost: 5 } },
    },
    figureOf(asked.decisions, "a job's last decision, p99, ms", p(99), { warm: { atMost: 50 } }),
    figureOf(asked.decisions, "a job's last decision, p50, ms", p(50)),
    figureOf(asked.histories, "history of a job, p99, ms", p(99), { warm: { atMost: 100 } }),
    {
      what: "POST/s ÷ empty log's",
      cold: aged.quiet.cold.perSecond / young.quiet.cold.perSecond,
      warm: percentile(perSecond(aged), 50) / percentile(perSecond(young), 50),
      targets: { warm: { atLeast: 0.8 } },
    },
    {
      what: "POST/s ÷ empty log's, roles starting",
      cold: aged.whileStarting.perSecond / young.whileStarting.perSecond,
      warm: null,
      targets: { cold: { atLeast: 0.8 } },
    },
    { what: "longest POST meanwhile, ms", cold: aged.whileStarting.longestMs, warm: null, targets: {} },
    {
      what: "nats-server, MB a million jobs",
      cold: perMillion(memory.restarted),
      warm: perMillion(memory.atTheEnd),
      targets: { cold: { atMost: 450 }, warm: { atMost: 450 } },
    },
  ];
}

const perSecond = ({ quiet }: PostedToLog): readonly number[] => quiet.warm.map((result) => result.perSecond);

function toNotes({ written, young, aged, memory }: Measured): readonly string[] {
  const starts = [...aged.ready].map(([role, { cold, warm }]) => `${role} ${toText(cold)}, ${toText(warm[0] ?? 0)}`);
  const posts = ({ quiet, whileStarting }: PostedToLog): string =>
    `${toText(
      percentile(
        quiet.warm.map((result) => result.perSecond),
        50,
      ),
    )}/s, while roles start ${toText(whileStarting.perSecond)}/s, the longest ${toText(whileStarting.longestMs)} ms`;
  return [
    `${toText(written.events)} events in ${toText(written.messages)} messages, written in ${toText(written.seconds)} s; contents erased`,
    `start to ready, s, first under load and then alone: ${starts.join("; ")}`,
    `POST, empty log: ${posts(young)}; this log: ${posts(aged)}`,
    `nats-server, MB: empty ${toText(memory.empty)}, when all was written ${toText(memory.written)}, started again ${toText(memory.restarted)}, at the end ${toText(memory.atTheEnd)}`,
    "cold: the first jobs asked, the first start of each role; not measured: archive",
  ];
}
