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
import { median, percentile } from "../statistics.ts";
import { toText } from "../wording.ts";

const askedJobs = 2000;
/** NATS remembers ids for two minutes, and the writer's are more than a service ever has in that time. */
const forgetsIdsMs = 125_000;
const fewJobs = 100_000;

/** Of nats-server, in MB. */
type Young = { readonly posted: PostedToLog; readonly startedMb: number; readonly endMb: number };
type Aged = Young & { readonly written: AgedLog; readonly writtenMb: number; readonly asked: OldJobs };

/** Everything that has to be as fast with a long past as without one. */
export const agedLog: Measurement = {
  name: "a log of 2,000,000 jobs",
  timeoutMs: 3_600_000,
  measure: async (bench) => {
    const young = await bench.onFreshServers((stage) => measureYoung(bench, stage));
    const aged = await bench.onFreshServers((stage) => measureAged(bench, stage));
    return {
      figures: toFigures(young, aged, bench.sizes.agedJobs),
      notes: toNotes(young, aged),
      rounds: { young, aged },
    };
  },
};

async function measureYoung(bench: Bench, stage: Stage): Promise<Young> {
  const { pid } = stage.ground.nats;
  const startedMb = mbOf(pid);
  const posted = await postToLog(bench, stage, await surroundingsOn(stage.ground));
  return { posted, startedMb, endMb: mbOf(pid) };
}

async function measureAged(bench: Bench, stage: Stage): Promise<Aged> {
  const { ground, lifecycle } = stage;
  const folder = join(ground.nats.folder, "aged");
  const surroundings = await surroundingsOn(ground);
  const on = (config: NatsConfig): Surroundings => ({ ...surroundings, nats: { ...surroundings.nats, config } });

  const writing = await startUnsyncedNats(folder, ground.nats.binary, lifecycle);
  const written = await writeAgedLog(on(writing.config), bench.sizes.agedJobs, askedJobs);
  const writtenMb = mbOf(writing.pid);
  await writing.stop();
  if (bench.sizes.agedJobs > fewJobs) await pause(forgetsIdsMs);

  const nats = await startNats(folder, ground.nats.binary, lifecycle);
  const startedMb = mbOf(nats.pid);
  const posted = await postToLog(bench, stage, on(nats.config));
  const asked = await askOldJobs(posted.apiUrl, written.jobIds, bench.rounds);
  return { posted, startedMb, endMb: mbOf(nats.pid), written, writtenMb, asked };
}

/** 0 where the system does not tell. */
const mbOf = (pid: number): number => residentMbOf(pid) ?? 0;

function toFigures(young: Young, aged: Aged, jobs: number): readonly Figure[] {
  const p = (percent: number) => (times: readonly number[]) => percentile(times, percent);
  const { decisions, histories } = aged.asked;
  const starts = [...aged.posted.ready.values()];
  const rates = {
    cold: aged.posted.quiet.cold.perSecond / young.posted.quiet.cold.perSecond,
    warm: warmRate(aged.posted) / warmRate(young.posted),
    starting: aged.posted.whileStarting.perSecond / young.posted.whileStarting.perSecond,
  };
  const perMillion = (mb: (log: Young) => number): number => ((mb(aged) - mb(young)) * 1_000_000) / jobs;
  return [
    {
      what: "start to ready, slowest role, s",
      cold: Math.max(...starts.map(({ cold }) => cold)),
      warm: Math.max(...starts.flatMap(({ warm }) => warm)),
      targets: { warm: { atMost: 5 } },
    },
    figureOf(decisions, "a job's last decision, p99, ms", p(99), { warm: { atMost: 50 } }),
    figureOf(decisions, "a job's last decision, p50, ms", p(50)),
    figureOf(histories, "history of a job, p99, ms", p(99), { warm: { atMost: 100 } }),
    { what: "POST/s ÷ empty log's", cold: rates.cold, warm: rates.warm, targets: { warm: { atLeast: 0.8 } } },
    {
      what: "POST/s ÷ empty log's, roles starting",
      cold: rates.starting,
      warm: null,
      targets: { cold: { atLeast: 0.8 } },
    },
    { what: "longest POST meanwhile, ms", cold: aged.posted.whileStarting.longestMs, warm: null, targets: {} },
    {
      what: "nats-server, MB a million jobs",
      cold: perMillion(({ startedMb }) => startedMb),
      warm: perMillion(({ endMb }) => endMb),
      targets: { cold: { atMost: 450 }, warm: { atMost: 450 } },
    },
  ];
}

const warmRate = ({ quiet }: PostedToLog): number => median(quiet.warm.map(({ perSecond }) => perSecond));

function toNotes(young: Young, { posted, written, writtenMb, startedMb, endMb }: Aged): readonly string[] {
  const starts = [...posted.ready].map(([role, { cold, warm }]) => `${role} ${toText(cold)}, ${toText(median(warm))}`);
  const describe = (log: PostedToLog): string =>
    `${toText(warmRate(log))}/s, while roles start ${toText(log.whileStarting.perSecond)}/s and the longest ${toText(log.whileStarting.longestMs)} ms`;
  return [
    `${toText(written.events)} events in ${toText(written.messages)} messages, written in ${toText(written.seconds)} s; contents erased`,
    `start to ready, s, first under load and then alone: ${starts.join("; ")}`,
    `POST, empty log: ${describe(young.posted)}; this log: ${describe(posted)}`,
    `nats-server, MB: when all was written ${toText(writtenMb)}; started again ${toText(startedMb)}, an empty one ${toText(young.startedMb)}; at the end ${toText(endMb)}, of the empty log ${toText(young.endMb)}`,
    "cold: the first jobs asked, the first start of each role, memory before the first request; not measured: archive",
  ];
}
