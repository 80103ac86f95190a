import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { NatsConfig } from "../../../src/settings/config.ts";
import type { Surroundings } from "../../support/waybill.ts";
import { askOldJobs, type OldJobs } from "../aged/ask-old-jobs.ts";
import { openLog, type PostedMeanwhile, type Ready } from "../aged/open-log.ts";
import type { AgedLog } from "../aged/write-aged-log.ts";
import { writeAgedStore } from "../aged/write-aged-store.ts";
import { type ColdAndWarm, coldAndWarm } from "../cold-and-warm.ts";
import { surroundingsOn } from "../deployment.ts";
import { startNats } from "../ground.ts";
import type { HttpLoadResult } from "../load/http-load.ts";
import { startLoad } from "../load/start-load.ts";
import { residentMbOf } from "../process-usage.ts";
import { type Bench, type Figure, figureOf, type Measurement, type Stage } from "../row.ts";
import { median, percentile } from "../statistics.ts";
import { describeLoad, toText } from "../wording.ts";

const askedJobs = 2000;

/** The same asked of an empty log and of the long one, in turn. */
type Both<Value> = { readonly empty: Value; readonly aged: Value };
type Starting = PostedMeanwhile & { readonly ready: Ready };
type Measured = {
  readonly written: AgedLog & { readonly mb: number };
  readonly posts: ColdAndWarm<Both<HttpLoadResult>>;
  readonly starting: Both<Starting>;
  readonly asked: OldJobs;
  /** Of each nats-server, before the first request, after the last one, and once its collector had time to give back. */
  readonly startedMb: Both<number>;
  readonly endMb: Both<number>;
  readonly restMb: Both<number>;
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

async function measure({ sizes, rounds }: Bench, stage: Stage): Promise<Measured> {
  const { ground, lifecycle } = stage;
  const surroundings = await surroundingsOn(ground);
  const on = (config: NatsConfig): Surroundings => ({ ...surroundings, nats: { ...surroundings.nats, config } });
  const folder = join(ground.nats.folder, "aged");
  const { binary } = ground.nats;
  const { prefix } = surroundings.nats;
  const store = { folder, binary, prefix, jobs: sizes.agedJobs, some: askedJobs };
  const written = await writeAgedStore(store, lifecycle);

  const agedNats = await startNats(folder, binary, lifecycle);
  const memory = (): Both<number> => ({ empty: mbOf(ground.nats.pid), aged: mbOf(agedNats.pid) });
  const startedMb = memory();
  const load = startLoad(lifecycle);
  const empty = await openLog(stage, load, await surroundingsOn(ground));
  const aged = await openLog(stage, load, on(agedNats.config));
  const post = async () => ({ empty: await empty.post(sizes.posts), aged: await aged.post(sizes.posts) });
  const posts = await coldAndWarm(rounds, post, post);
  const starting = {
    empty: await empty.postWhileStarting(sizes.posts),
    aged: await aged.postWhileStarting(sizes.posts),
  };
  const asked = await askOldJobs(aged.apiUrl, written.jobIds, rounds);
  const endMb = memory();
  return { written, posts, starting, asked, startedMb, endMb, restMb: await atRest(memory) };
}

/**
 * An idle server collects every two minutes. What its caches held is free after the second time, and goes back to the
 * system bit by bit.
 */
const sampleEveryMs = 10_000;
const steadySamples = 30;
const mostSamples = 120;

/** The memory once the log's server has given nothing back for five minutes; after twenty minutes at the latest. */
async function atRest(memory: () => Both<number>): Promise<Both<number>> {
  const samples = [memory()];
  const isSteady = (): boolean => {
    const now = samples.at(-1)?.aged ?? 0;
    const before = samples.at(-steadySamples - 1)?.aged;
    return before !== undefined && now > 0.98 * before;
  };
  while (!isSteady() && samples.length < mostSamples) {
    await pause(sampleEveryMs);
    samples.push(memory());
  }
  return samples.at(-1) ?? memory();
}

/** 0 where the system does not tell. */
const mbOf = (pid: number): number => residentMbOf(pid) ?? 0;

function toFigures({ asked, posts, starting, startedMb, restMb }: Measured, jobs: number): readonly Figure[] {
  const p = (percent: number) => (times: readonly number[]) => percentile(times, percent);
  const starts = [...starting.aged.ready.values()];
  const perMillion = ({ aged, empty }: Both<number>): number => ((aged - empty) * 1_000_000) / jobs;
  return [
    {
      what: "start to ready, slowest role, s",
      cold: Math.max(...starts.map(({ cold }) => cold)),
      warm: Math.max(...starts.flatMap(({ warm }) => warm)),
      targets: { warm: { atMost: 5 } },
    },
    figureOf(asked.decisions, "a job's last decision, p99, ms", p(99), { warm: { atMost: 50 } }),
    figureOf(asked.decisions, "a job's last decision, p50, ms", p(50)),
    figureOf(asked.histories, "history of a job, p99, ms", p(99), { warm: { atMost: 100 } }),
    figureOf(posts, "POST/s ÷ empty log's", ({ aged, empty }) => aged.perSecond / empty.perSecond, {
      warm: { atLeast: 0.8 },
    }),
    {
      what: "POST/s ÷ empty log's, roles starting",
      cold: starting.aged.perSecond / starting.empty.perSecond,
      warm: null,
      targets: { cold: { atLeast: 0.8 } },
    },
    { what: "longest POST meanwhile, ms", cold: starting.aged.longestMs, warm: null, targets: {} },
    {
      what: "nats-server at rest, MB a million jobs",
      cold: perMillion(startedMb),
      warm: perMillion(restMb),
      targets: { cold: { atMost: 450 }, warm: { atMost: 450 } },
    },
  ];
}

function toNotes({ written, posts, starting, startedMb, endMb, restMb }: Measured): readonly string[] {
  const starts = [...starting.aged.ready].map(
    ([role, { cold, warm }]) => `${role} ${toText(cold)}, ${toText(median(warm))}`,
  );
  const describe = (log: keyof Both<unknown>): string => {
    const { perSecond, longestMs } = starting[log];
    const quiet = describeLoad(posts.warm.map((round) => round[log]));
    return `${quiet}; while roles start ${toText(perSecond)}/s, the longest ${toText(longestMs)} ms`;
  };
  const inMb = ({ aged, empty }: Both<number>): string => `${toText(aged)}, of the empty log ${toText(empty)}`;
  return [
    `${toText(written.events)} events in ${toText(written.messages)} messages, written in ${toText(written.seconds)} s; contents kept`,
    `start to ready, s, first under load and then alone: ${starts.join("; ")}`,
    `POST, empty log: ${describe("empty")}`,
    `POST, this log: ${describe("aged")}`,
    `nats-server, MB: when all was written ${toText(written.mb)}; started again ${inMb(startedMb)}; at the end ${inMb(endMb)}; at rest ${inMb(restMb)}`,
    "cold: the first jobs asked, the first start of each role, memory before the first request; not measured: archive",
  ];
}
