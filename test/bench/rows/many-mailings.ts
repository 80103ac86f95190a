import { coldAndWarm } from "../cold-and-warm.ts";
import { separateProcesses } from "../deployment.ts";
import { type Figure, figureOf, type Measurement } from "../row.ts";
import { type MailingResult, runMailing } from "../run-mailing.ts";
import { sampleLag } from "../sample-lag.ts";
import { type MemoryUse, sampleMemory } from "../sample-memory.ts";
import { startSink } from "../sink/start-sink.ts";
import { mailsOf } from "../sizes.ts";
import { startWaybill } from "../start-waybill.ts";
import { percentile } from "../statistics.ts";
import { describeCpu, toText } from "../wording.ts";

/** Grown by less than this is flat: the collector runs when it likes. */
const flat = 1.15;

type Round = MailingResult & {
  /** In ms, for each look at the log. */
  readonly lags: readonly number[];
  readonly memory: ReadonlyMap<string, MemoryUse>;
};

/** What is stored is to be seen soon, and what mails for long is not to grow. */
export const manyMailings: Measurement = {
  name: "200 mailings at once",
  timeoutMs: 1_200_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const sink = await startSink(stage.lifecycle);
      const waybill = await startWaybill(stage, sink, separateProcesses);
      const run = async (): Promise<Round> => {
        const memory = sampleMemory(waybill.pids);
        const lag = sampleLag(waybill.progress);
        const result = await runMailing(waybill, sizes.longMailing);
        return { ...result, memory: memory.finish(), lags: await lag.finish() };
      };
      // The first mailing is long enough to warm everything up.
      const rounds = await coldAndWarm(count, run, async () => {});
      const lag = (what: string, percent: number, targets = {}): Figure =>
        figureOf(rounds, what, ({ lags }) => percentile(lags, percent), targets);
      const inSecondHalf = ({ lags }: Round): number => percentile(lags.slice(lags.length / 2), 99);
      return {
        figures: [
          lag("stored to visible, p99, ms", 99, { warm: { atMost: 500 } }),
          lag("stored to visible, p50, ms", 50),
          // By then all jobs are created, and what is projected is what is sent.
          figureOf(rounds, "p99 in the second half, ms", inSecondHalf),
          figureOf(rounds, "mails/s meanwhile", ({ mailsPerSecond }) => mailsPerSecond),
          ...["worker", "projector", "api"].flatMap((role) => [
            figureOf(rounds, `${role}, peak MB`, ({ memory }) => memory.get(role)?.peakMb ?? null, {
              warm: { atMost: 200 },
            }),
            figureOf(rounds, `${role}, second half ÷ first half`, ({ memory }) => memory.get(role)?.growth ?? null, {
              warm: { atMost: flat },
            }),
          ]),
        ],
        notes: [
          `${toText(mailsOf(sizes.longMailing))} mails each time; warm-up: the cold ones; the slowest read model counts`,
          describeCpu(
            rounds.warm.map(({ cpuMicros, mails }) => ({ cpuMicros, units: mails })),
            "mail",
          ),
        ],
        rounds,
      };
    }),
};
