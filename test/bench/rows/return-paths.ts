import { coldAndWarm } from "../cold-and-warm.ts";
import { separateProcesses } from "../deployment.ts";
import type { Program } from "../program.ts";
import { figureOf, type Measurement, type Stage } from "../row.ts";
import { cpuPerMail, runMailing } from "../run-mailing.ts";
import { type CountingSink, startTcpSink } from "../sink/start-sink.ts";
import type { MailingShape } from "../sizes.ts";
import { startWaybill } from "../start-waybill.ts";
import { describeRounds } from "../wording.ts";

type Service = { readonly program: Program; readonly sink: CountingSink };
type Measured = { readonly mailsPerSecond: number; readonly cpuMicrosPerMail: number | null };
type Round = { readonly with: Measured; readonly without: Measured };

const pairsPerRound = 4;

/**
 * What return paths of their own and throttling cost together. Two services with all other settings the same mail at the same
 * time, on the same servers, so that what else the machine does befalls both: in turn, two that were the same differed by 17 %.
 * Mails are counted until one of the two has ended, because the other one has the machine to itself then.
 */
export const returnPaths: Measurement = {
  name: "a mailing with return paths and throttling",
  timeoutMs: 1_800_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const without = await startService(stage, { MAIL_THROTTLING: "off" });
      const withBoth = await startService(stage, { MAIL_RETURN_PATH: "bounces@b.example.org" });
      let isFirst = false;
      const runBoth = async (shape: MailingShape): Promise<Round> => {
        // The first one asked is a moment ahead.
        isFirst = !isFirst;
        if (isFirst) {
          const [one, other] = await runTogether(withBoth, without, shape);
          return { with: one, without: other };
        }
        const [one, other] = await runTogether(without, withBoth, shape);
        return { with: other, without: one };
      };
      const rounds = await coldAndWarm(
        pairsPerRound * count,
        () => runBoth(sizes.mailing),
        () => runBoth(sizes.warmUp),
      );
      const rates = (pick: (round: Round) => Measured) =>
        describeRounds([rounds.cold, ...rounds.warm].map((round) => pick(round).mailsPerSecond));
      return {
        figures: [
          figureOf(rounds, "mails/s ÷ without", (round) => round.with.mailsPerSecond / round.without.mailsPerSecond, {
            warm: { atLeast: 0.97 },
          }),
          figureOf(rounds, "CPU a mail ÷ without", (round) => {
            const [one, other] = [round.with.cpuMicrosPerMail, round.without.cpuMicrosPerMail];
            return one === null || other === null ? null : one / other;
          }),
        ],
        notes: [`with, mails/s: ${rates((round) => round.with)}; without: ${rates((round) => round.without)}`],
        rounds,
      };
    }),
};

async function startService(stage: Stage, settings: Readonly<Record<string, string>>): Promise<Service> {
  const sink = await startTcpSink(stage.lifecycle);
  const { pids, ...program } = await startWaybill(stage, sink, separateProcesses, settings);
  // The servers work for both.
  const own = new Map([...pids].filter(([name]) => name !== "nats" && name !== "database"));
  return { program: { ...program, pids: own }, sink };
}

async function runTogether(one: Service, other: Service, shape: MailingShape): Promise<readonly [Measured, Measured]> {
  const count = () => Promise.all([one.sink.mails(), other.sink.mails()]);
  const [before, startedAt] = [await count(), performance.now()];
  const runs = [runMailing(one.program, shape), runMailing(other.program, shape)] as const;
  await Promise.race(runs);
  const [after, seconds] = [await count(), (performance.now() - startedAt) / 1000];
  const [ofOne, ofOther] = await Promise.all(runs);
  const perSecond = (index: 0 | 1): number => (after[index] - before[index]) / seconds;
  return [
    { mailsPerSecond: perSecond(0), cpuMicrosPerMail: cpuPerMail(ofOne) },
    { mailsPerSecond: perSecond(1), cpuMicrosPerMail: cpuPerMail(ofOther) },
  ];
}
