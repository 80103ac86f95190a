import { type ColdAndWarm, coldAndWarm } from "../cold-and-warm.ts";
import { separateProcessesWith } from "../deployment.ts";
import type { Bench, Figure, Measurement } from "../row.ts";
import { runMailing } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import { mailsOf } from "../sizes.ts";
import { startWaybill } from "../start-waybill.ts";
import { median } from "../statistics.ts";
import { describeRounds, toText } from "../wording.ts";

const msPerMail = 20;

/** Mails a second. */
type Rates = ColdAndWarm<number>;

/** Ten connections for each worker: each one should bring as much as the first. */
export const workers: Measurement = {
  name: "1, 2, 4 workers, a mail server of 20 ms",
  timeoutMs: 1_200_000,
  measure: async (bench) => {
    const one = await runWith(bench, 1);
    const two = await runWith(bench, 2);
    const four = await runWith(bench, 4);
    const describe = ({ cold, warm }: Rates): string => describeRounds([cold, ...warm]);
    const mails = toText(mailsOf(bench.sizes.slowMailing));
    return {
      figures: [toFigure("2 workers ÷ 1, mails/s", two, one, 1.9), toFigure("4 workers ÷ 1, mails/s", four, one, 3.6)],
      notes: [
        `mails/s: 1 worker ${describe(one)}; 2 workers ${describe(two)}; 4 workers ${describe(four)}`,
        `${mails} mails each time; warm-up: the cold ones; ten connections can do ${10_000 / msPerMail} mails/s at most`,
      ],
      rounds: { one, two, four },
    };
  },
};

const runWith = ({ sizes, rounds, onFreshServers }: Bench, count: number): Promise<Rates> =>
  onFreshServers(async (stage) => {
    const sink = await startSink(stage.lifecycle, msPerMail);
    const waybill = await startWaybill(stage, sink, separateProcessesWith(count));
    const run = async (): Promise<number> => (await runMailing(waybill, sizes.slowMailing)).mailsPerSecond;
    return await coldAndWarm(rounds, run, async () => {});
  });

const toFigure = (what: string, some: Rates, one: Rates, atLeast: number): Figure => ({
  what,
  cold: some.cold / one.cold,
  warm: median(some.warm) / median(one.warm),
  targets: { warm: { atLeast } },
});
