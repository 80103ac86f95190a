import { type Pids, sumOf } from "../process-usage.ts";
import type { Row } from "../row.ts";
import type { MailingResult } from "../run-mailing.ts";
import { median, medianOfKnown } from "../statistics.ts";
import { describeCpu, describePeaks, toText } from "../wording.ts";

export type MailingRound = {
  readonly mails: number;
  readonly bare: { readonly mailsPerSecond: number; readonly cpuMicrosPerMail: number };
  readonly separate: MailingResult;
  readonly oneProcess: MailingResult;
  readonly classicMailsPerSecond: number;
  /** Of the sink, for a mail of the bare loop; null where the system does not tell. */
  readonly sinkMicrosPerMail: number | null;
};

type Pick = (round: MailingRound) => MailingResult;

const middle = (rounds: readonly MailingRound[], pick: (round: MailingRound) => number): number =>
  median(rounds.map(pick));

/** How fast, by those who mailed the same in the same round. */
export function toSpeedRow(
  name: string,
  rounds: readonly MailingRound[],
  pick: Pick,
  { atLeast, pids }: { readonly atLeast: number; readonly pids: Pids },
): Row {
  const speed = (round: MailingRound): number => pick(round).mailsPerSecond;
  const byBare = middle(rounds, (round) => speed(round) / round.bare.mailsPerSecond);
  const byClassic = middle(rounds, (round) => speed(round) / round.classicMailsPerSecond);
  const classicSpeed = toText(middle(rounds, ({ classicMailsPerSecond }) => classicMailsPerSecond));
  return {
    name,
    figures: [
      { what: "× bare loop, mails/s", value: byBare, atLeast },
      { what: "× classic design, mails/s", value: byClassic },
    ],
    notes: [
      `Waybill ${toText(middle(rounds, speed))} mails/s; ${describeBare(rounds)}; classic design ${classicSpeed} mails/s`,
      describeMailCpu(rounds, pick),
      describePeaks(pids),
    ],
    rounds,
  };
}

/** What Waybill and its servers used for a mail, by what the bare loop used for one. */
export function toCpuRow(name: string, rounds: readonly MailingRound[], pick: Pick, sinkName: string): Row {
  const ratios = rounds.map((round) => {
    const { cpuMicros } = pick(round);
    return cpuMicros === null ? null : sumOf(cpuMicros) / round.mails / round.bare.cpuMicrosPerMail;
  });
  const ofSink = medianOfKnown(rounds.map(({ sinkMicrosPerMail }) => sinkMicrosPerMail));
  return {
    name,
    figures: [{ what: "× bare loop, CPU a mail", value: medianOfKnown(ratios), atMost: 0.8 }],
    notes: [
      describeMailCpu(rounds, pick),
      describeBare(rounds),
      "counted: Waybill's processes, nats-server and the database, until the read models had caught up",
      `not counted: the sink (${sinkName}), ${ofSink === null ? "unknown" : toText(ofSink)} µs a mail`,
    ],
    rounds,
  };
}

function describeBare(rounds: readonly MailingRound[]): string {
  const speed = toText(middle(rounds, ({ bare }) => bare.mailsPerSecond));
  return `bare loop ${speed} mails/s, ${toText(middle(rounds, ({ bare }) => bare.cpuMicrosPerMail))} µs CPU a mail`;
}

const describeMailCpu = (rounds: readonly MailingRound[], pick: Pick): string =>
  describeCpu(
    rounds.map((round) => ({ cpuMicros: pick(round).cpuMicros, units: round.mails })),
    "mail",
  );
