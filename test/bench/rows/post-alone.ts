import { type ColdAndWarm, coldAndWarm } from "../cold-and-warm.ts";
import { deploy, surroundingsOn } from "../deployment.ts";
import type { HttpLoadResult } from "../load/http-load.ts";
import { startLoad, toPosting } from "../load/start-load.ts";
import { startBareKoa } from "../peers/start-peers.ts";
import { type CpuMicros, countingCpu } from "../process-usage.ts";
import { figureOf, type Measurement, type Row } from "../row.ts";
import { mailing } from "../the-mail.ts";
import { describeCpu, describeLoad, describePeaks, toText } from "../wording.ts";

const connections = 32;
const atMostMs = 8000;

type Round = {
  readonly posting: HttpLoadResult;
  readonly cpuMicros: CpuMicros | null;
  readonly koa: HttpLoadResult;
};

/** A process with the API and nothing else; its peer inserts a row and checks nothing. */
export const postAlone: Measurement = {
  name: "POST alone, 32 connections",
  timeoutMs: 240_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const { ground, lifecycle } = stage;
      const load = startLoad(lifecycle);
      const koaPort = await startBareKoa(lifecycle, await ground.freshDatabase());
      const { port, pids } = await deploy(stage, await surroundingsOn(ground), ["api"]);
      const postTo = async (to: number, path: string): Promise<HttpLoadResult> =>
        (await load.ask(toPosting(to, path, mailing(1), sizes.posts, connections, atMostMs))).result;
      const run = async (): Promise<Round> => {
        const { result: posting, cpuMicros } = await countingCpu(pids, () => postTo(port, "/api/jobs"));
        return { posting, cpuMicros, koa: await postTo(koaPort, "/jobs") };
      };
      const rounds = await coldAndWarm(count, run, run);
      const synced = ground.nats.syncInterval === "always" ? "each" : "none";
      const notes = [
        `of its messages, ${synced} is on the disk before the answer; warm-up: ${toText(sizes.posts)} POSTs more`,
        ...toNotes(rounds),
        describePeaks(pids),
      ];
      return toRow(rounds, notes);
    }),
};

const toRow = (rounds: ColdAndWarm<Round>, notes: readonly string[]): Omit<Row, "name"> => ({
  figures: [
    figureOf(rounds, "POST/s", ({ posting }) => posting.perSecond, { warm: { atLeast: 1600 } }),
    figureOf(rounds, "p99, ms", ({ posting }) => posting.p99Ms),
    figureOf(rounds, "POST/s ÷ bare Koa's with an INSERT", ({ posting, koa }) => posting.perSecond / koa.perSecond),
  ],
  notes,
  rounds,
});

const toNotes = ({ warm }: ColdAndWarm<Round>): readonly string[] => [
  `Waybill ${describeLoad(warm.map(({ posting }) => posting))}; ${describeCpu(
    warm.map(({ cpuMicros, posting }) => ({ cpuMicros, units: posting.requests })),
    "POST",
  )}`,
  `bare Koa with one INSERT ${describeLoad(warm.map(({ koa }) => koa))}`,
];
