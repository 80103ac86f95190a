import { separateProcessesWith } from "../deployment.ts";
import type { Bench, Figure, Measurement } from "../row.ts";
import { runMailing } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import { type MailingShape, mailsOf } from "../sizes.ts";
import { startWaybill } from "../start-waybill.ts";
import { toText } from "../wording.ts";

/** So slow that the cores of the machine are not the limit, with eight workers either. */
const msPerMail = 100;

const targets = [
  { count: 2, atLeast: 1.9 },
  { count: 4, atLeast: 3.6 },
  { count: 8, atLeast: 6.5 },
] as const;

/** Mails a second, with many mailings and with few. */
type Rates = { readonly many: number; readonly few: number };

/** Ten connections for each worker, and mailings that are too few, or too large, to give each worker its own. */
export const sharedMailings: Measurement = {
  name: "1, 2, 4, 8 workers, large mailings, a mail server of 100 ms",
  timeoutMs: 1_500_000,
  measure: async (bench) => {
    const one = await runWith(bench, 1);
    const rounds: Record<string, Rates> = { 1: one };
    const figures: Figure[] = [];
    for (const { count, atLeast } of targets) {
      const some = await runWith(bench, count);
      rounds[count] = some;
      figures.push(
        toFigure(`${count} workers ÷ 1, ${describe(bench.sizes.manyShared)}`, some.many / one.many, atLeast),
        toFigure(`${count} workers ÷ 1, ${describe(bench.sizes.fewShared)}`, some.few / one.few, atLeast),
      );
    }
    const rates = Object.entries(rounds).map(
      ([count, { many, few }]) => `${count}: ${toText(many)} and ${toText(few)}`,
    );
    return {
      figures,
      notes: [
        `mails/s by workers, with many mailings and with few: ${rates.join("; ")}`,
        `once each, after a mailing that is not counted; ten connections can do ${10_000 / msPerMail} mails/s at most`,
      ],
      rounds,
    };
  },
};

const runWith = ({ sizes, onFreshServers }: Bench, count: number): Promise<Rates> =>
  onFreshServers(async (stage) => {
    const sink = await startSink(stage.lifecycle, msPerMail);
    const waybill = await startWaybill(stage, sink, separateProcessesWith(count));
    const run = async (shape: MailingShape): Promise<number> => (await runMailing(waybill, shape)).mailsPerSecond;
    await run({ jobs: 2 * count, recipientsPerJob: 50 });
    const few = await run(sizes.fewShared);
    return { few, many: await run(sizes.manyShared) };
  });

const describe = (shape: MailingShape): string => `${shape.jobs} mailings, ${toText(mailsOf(shape))} mails`;

const toFigure = (what: string, warm: number, atLeast: number): Figure => ({
  what,
  cold: null,
  warm,
  targets: { warm: { atLeast } },
});
