import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../support/eventually.ts";
import { type Before, lookBefore, untilEnded, untilProjected, violationsAfter } from "./aftermath.ts";
import type { Cell, Fault } from "./fault.ts";
import { whatGrew } from "./growth.ts";
import { duplicatesAmong } from "./invariants.ts";
import { type Load, startLoad, steadyLoad } from "./load.ts";
import { drawn, drawnBetween } from "./seeded.ts";
import type { Stage } from "./stage.ts";

export type CellResult = {
  readonly fault: string;
  readonly jobs: number;
  readonly mails: number;
  readonly duplicates: number;
  readonly mayDouble: number;
  /** From the end of the fault until every job had ended and the read models had caught up. */
  readonly secondsToHeal: number;
  /** What clients were told meanwhile. */
  readonly trouble: string;
  /** When the fault struck, where it says so. */
  readonly struck: string;
  /** Nothing where all invariants hold. */
  readonly violations: readonly string[];
};

const afterwardsMs = 1000;
const endWithinMs = 90_000;

/** Load, fault, healing, and then a look at everything that must always hold. */
export async function runCell(stage: Stage, fault: Fault, seed: string): Promise<CellResult> {
  const before = await lookBefore(stage);
  stage.mailServer.forgetMails();
  const load = startLoad(stage, fault.name, [fault.load ?? steadyLoad]);
  try {
    return await runUnder(load, stage, fault, seed, before);
  } finally {
    // Of a cell that broke off, too: its load would go on for minutes, against what the next cell starts.
    void load.stop();
  }
}

async function runUnder(load: Load, stage: Stage, fault: Fault, seed: string, before: Before): Promise<CellResult> {
  const arrived = (): number => stage.mailServer.mails.length;
  const victim = drawn(seed, `${fault.name} victim`) < 0.5 ? "worker" : "otherWorker";
  const accepted = (): Load["accepted"] => load.accepted;
  const cell: Cell = {
    seed,
    victim,
    arrived,
    accepted,
    adopt: load.adopt,
    told: (word) => load.trouble.get(word) ?? 0,
  };
  await reach(arrived, drawnBetween(seed, `${fault.name} strike`, 20, 250));
  await stage.log.read();
  const toll = await fault.strike(stage, cell);
  const healedAt = performance.now();
  await pause(afterwardsMs);
  await load.stop();
  const remains = await untilEnded(stage, load, before, fault.endWithinMs ?? endWithinMs);
  const differences = await untilProjected(stage, remains);
  const secondsToHeal = (performance.now() - healedAt) / 1000;
  return {
    fault: fault.name,
    jobs: remains.jobs.length,
    mails: remains.mails.length,
    duplicates: duplicatesAmong(remains.mails),
    mayDouble: toll.mayDouble,
    secondsToHeal,
    trouble: [...load.trouble].map(([word, count]) => `${count}× ${word}`).join(", "),
    struck: toll.struck ?? "",
    violations: [
      ...differences,
      ...(await violationsAfter(stage, before, load, remains, toll.mayDouble)),
      ...((await toll.alsoViolated?.()) ?? []),
      ...(await whatGrew(stage)),
      ...strangeAnswers(load, fault.mayTell),
    ],
  };
}

async function reach(arrived: () => number, mails: number): Promise<void> {
  await eventually(() => {
    if (arrived() < mails) throw new Error(`${arrived()} of ${mails} mails arrived before the fault`);
  }, 30_000);
}

function strangeAnswers({ trouble }: Load, mayTell: Fault["mayTell"]): string[] {
  if (mayTell === undefined) return [];
  return [...trouble.keys()].filter((word) => !mayTell.includes(word)).map((word) => `clients were told ${word}`);
}
