import { coldAndWarm } from "../cold-and-warm.ts";
import { separateProcesses } from "../deployment.ts";
import { figureOf, type Measurement } from "../row.ts";
import { cpuPerMail, type MailingResult, runMailing } from "../run-mailing.ts";
import { startSink } from "../sink/start-sink.ts";
import type { MailingShape } from "../sizes.ts";
import { startWaybill } from "../start-waybill.ts";
import { describeRounds } from "../wording.ts";

type Round = { readonly with: MailingResult; readonly without: MailingResult };

const pairsPerRound = 4;

/**
 * What return paths of their own and throttling cost together. Two services on the same servers, with all other settings the
 * same, mail in turn: a figure is the median of what the two of a pair have to each other. Three pairs would not tell 3 % from
 * chance; as many begin with the one as with the other.
 */
export const returnPaths: Measurement = {
  name: "a mailing with return paths and throttling",
  timeoutMs: 1_800_000,
  measure: ({ sizes, rounds: count, onFreshServers }) =>
    onFreshServers(async (stage) => {
      const sink = await startSink(stage.lifecycle);
      const start = (settings: Readonly<Record<string, string>>) =>
        startWaybill(stage, sink, separateProcesses, settings);
      const without = await start({ MAIL_THROTTLING: "off" });
      const withBoth = await start({ MAIL_RETURN_PATH: "bounces@b.example.org" });
      let isFirst = false;
      const runBoth = async (shape: MailingShape): Promise<Round> => {
        // The second one finds the caches of the servers fuller.
        isFirst = !isFirst;
        const before = isFirst ? await runMailing(withBoth, shape) : null;
        const plain = await runMailing(without, shape);
        return { with: before ?? (await runMailing(withBoth, shape)), without: plain };
      };
      const rounds = await coldAndWarm(
        pairsPerRound * count,
        () => runBoth(sizes.mailing),
        () => runBoth(sizes.warmUp),
      );
      const rates = (pick: (round: Round) => MailingResult) =>
        describeRounds([rounds.cold, ...rounds.warm].map((round) => pick(round).mailsPerSecond));
      return {
        figures: [
          figureOf(rounds, "mails/s ÷ without", (round) => round.with.mailsPerSecond / round.without.mailsPerSecond, {
            warm: { atLeast: 0.97 },
          }),
          figureOf(rounds, "CPU a mail ÷ without", (round) => {
            const [one, other] = [cpuPerMail(round.with), cpuPerMail(round.without)];
            return one === null || other === null ? null : one / other;
          }),
        ],
        notes: [`with, mails/s: ${rates((round) => round.with)}; without: ${rates((round) => round.without)}`],
        rounds,
      };
    }),
};
