import { type ColdAndWarm, coldAndWarm } from "./cold-and-warm.ts";
import type { Ground } from "./ground.ts";
import { noBullmq, startBullmq } from "./peers/bullmq/start-bullmq.ts";
import { startBareLoop } from "./peers/start-peers.ts";
import type { Program } from "./program.ts";
import { type Bench, type Bound, type Figure, figureOf, type Targets } from "./row.ts";
import { cpuPerMail, type MailingResult, runMailing } from "./run-mailing.ts";
import { startSink } from "./sink/start-sink.ts";
import { type MailingShape, mailsOf } from "./sizes.ts";
import { startWaybill } from "./start-waybill.ts";
import { describeCpu, describePeaks, describeRounds, toText } from "./wording.ts";

type MailingRound = {
  readonly waybill: MailingResult;
  readonly bare: MailingResult;
  /** Null where there is no Redis. */
  readonly bullmq: MailingResult | null;
};

type MeasuredMailing = { readonly rounds: ColdAndWarm<MailingRound>; readonly notes: readonly string[] };

/** Each program mails the same to the same sink, in turn, and is idle while another one mails. */
export const measureMailing = (
  { sizes, rounds: count, onFreshServers }: Bench,
  processes: readonly string[],
  look: (ground: Ground) => void,
): Promise<MeasuredMailing> =>
  onFreshServers(async (stage) => {
    look(stage.ground);
    const sink = await startSink(stage.lifecycle);
    const bareLoop = startBareLoop(stage.lifecycle);
    const waybill = await startWaybill(stage, sink, processes);
    const bullmq = await startBullmq(stage, sink);

    const runBare = async (mails: number): Promise<MailingResult> => {
      const { seconds, cpuMicros } = await bareLoop.ask({ port: sink.port, mails });
      return { mails, mailsPerSecond: mails / seconds, cpuMicros: { loop: cpuMicros } };
    };
    const runAll = async (shape: MailingShape): Promise<MailingRound> => ({
      waybill: await runMailing(waybill, shape),
      bare: await runBare(mailsOf(shape)),
      bullmq: bullmq === null ? null : await runMailing(bullmq, shape),
    });
    const rounds = await coldAndWarm(
      count,
      () => runAll(sizes.mailing),
      () => runAll(sizes.warmUp),
    );
    return { rounds, notes: toNotes(rounds, sizes.warmUp, waybill) };
  });

export const speedFigures = ({ rounds }: MeasuredMailing, targets: Targets): readonly Figure[] => [
  figureOf(
    rounds,
    "mails/s ÷ bare loop's",
    ({ waybill, bare }) => waybill.mailsPerSecond / bare.mailsPerSecond,
    targets,
  ),
  figureOf(rounds, "mails/s ÷ BullMQ's", ({ waybill, bullmq }) =>
    bullmq === null ? null : waybill.mailsPerSecond / bullmq.mailsPerSecond,
  ),
  figureOf(rounds, "mails/s", ({ waybill }) => waybill.mailsPerSecond),
];

/** Of Waybill's processes and all servers, by what the bare loop used itself. */
export const cpuFigure = ({ rounds }: MeasuredMailing, warm?: Bound): Figure =>
  figureOf(
    rounds,
    "CPU a mail ÷ bare loop's own",
    ({ waybill, bare }) => {
      const [ours, theirs] = [cpuPerMail(waybill), cpuPerMail(bare)];
      return ours === null || theirs === null ? null : ours / theirs;
    },
    warm === undefined ? {} : { warm },
  );

function toNotes({ cold, warm }: ColdAndWarm<MailingRound>, warmUp: MailingShape, waybill: Program): readonly string[] {
  const describe = (name: string, pick: (round: MailingRound) => MailingResult | null): string => {
    const rates = [cold, ...warm].map((round) => pick(round)?.mailsPerSecond ?? 0);
    const counted = warm.flatMap((round) => pick(round) ?? []);
    const cpu = describeCpu(
      counted.map(({ cpuMicros, mails }) => ({ cpuMicros, units: mails })),
      "mail",
    );
    return `${name}, mails/s: ${describeRounds(rates)}; ${cpu}`;
  };
  return [
    `warm-up: ${toText(mailsOf(warmUp))} mails more, of each program`,
    describe("Waybill", (round) => round.waybill),
    describe("bare loop", (round) => round.bare),
    cold.bullmq === null ? noBullmq : describe("BullMQ", (round) => round.bullmq),
    describePeaks(waybill.pids),
  ];
}
