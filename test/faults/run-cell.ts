import { setTimeout as pause } from "node:timers/promises";
import { eventually } from "../support/eventually.ts";
import type { Cell, Fault, Toll } from "./fault.ts";
import { foldLog, hasEnded } from "./fold-of-log.ts";
import { whatGrew } from "./growth.ts";
import { changesOf, duplicatesAmong, type Remains, violationsIn } from "./invariants.ts";
import { type Load, startLoad, steadyLoad } from "./load.ts";
import type { RawEvent } from "./log-reader.ts";
import { differencesFromLog } from "./read-models.ts";
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
  /** Nothing where all invariants hold. */
  readonly violations: readonly string[];
};

const afterwardsMs = 1000;
const endWithinMs = 90_000;
const projectedWithinMs = 30_000;

/** Load, fault, healing, and then a look at everything that must always hold. */
export async function runCell(stage: Stage, fault: Fault, seed: string): Promise<CellResult> {
  const earlier = foldLog(await stage.log.read());
  stage.mailServer.forgetMails();
  const load = startLoad(stage, toSlug(fault.name), fault.load ?? steadyLoad);
  try {
    return await runUnder(load, stage, fault, seed, earlier);
  } finally {
    // Of a cell that broke off, too: its load would go on for minutes, against what the next cell starts.
    void load.stop();
  }
}

async function runUnder(
  load: Load,
  stage: Stage,
  fault: Fault,
  seed: string,
  earlier: ReadonlyMap<string, unknown>,
): Promise<CellResult> {
  const arrived = (): number => stage.mailServer.mails.length;
  const victim = drawn(seed, `${fault.name} victim`) < 0.5 ? "worker" : "otherWorker";
  const accepted = (): Load["accepted"] => load.accepted;
  const cell: Cell = { seed, victim, arrived, accepted, told: (word) => load.trouble.get(word) ?? 0 };
  await reach(arrived, drawnBetween(seed, `${fault.name} strike`, 20, 250));
  const before = [...(await stage.log.read())];
  const toll = await fault.strike(stage, cell);
  const healedAt = performance.now();
  await pause(afterwardsMs);
  await load.stop();
  const remains = await untilEnded(stage, load, fault.endWithinMs ?? endWithinMs);
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
    violations: [
      ...violationsIn(remains),
      ...differences,
      ...changesOf(before, await stage.log.readAll()),
      ...tooManyDuplicates(remains, toll),
      ...((await toll.alsoViolated?.()) ?? []),
      ...(await whatGrew(stage)),
      ...load.wrong,
      ...unknownJobs(await stage.log.read(), earlier, load),
      ...strangeAnswers(load, fault.mayTell),
    ],
  };
}

const toSlug = (name: string): string =>
  `${name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 34)}-${Date.now().toString(36)}`;

async function reach(arrived: () => number, mails: number): Promise<void> {
  await eventually(() => {
    if (arrived() < mails) throw new Error(`${arrived()} of ${mails} mails arrived before the fault`);
  }, 30_000);
}

async function untilEnded({ log, mailServer }: Stage, load: Load, withinMs: number): Promise<Remains> {
  const jobs = await eventually(async () => {
    const folded = foldLog(await log.read());
    const known = load.accepted.map((job) => ({ ...job, folded: folded.get(job.jobId) }));
    const open = known.filter((job) => job.folded === undefined || !hasEnded(job.folded));
    if (open.length > 0) throw new Error(`${open.length} jobs did not end: ${describe(open)}`);
    return known as Remains["jobs"];
  }, withinMs);
  const addresses = new Set(jobs.flatMap(({ recipients }) => recipients));
  return { jobs, mails: mailServer.mails.filter(({ to }) => to.some((address) => addresses.has(address))) };
}

const describe = (jobs: readonly { readonly jobId: string; readonly folded: { status: string } | undefined }[]) =>
  jobs
    .slice(0, 5)
    .map(({ jobId, folded }) => `${jobId} is ${folded?.status ?? "not in the log"}`)
    .join(", ");

/** The read models come later than the log; what they say in the end counts. */
async function untilProjected(stage: Stage, { jobs }: Remains): Promise<readonly string[]> {
  let differences: readonly string[] = [];
  const look = async (): Promise<void> => {
    differences = await differencesFromLog(stage, jobs);
    if (differences.length > 0) throw new Error(differences[0]);
  };
  try {
    await eventually(look, projectedWithinMs);
    return [];
  } catch (failure) {
    return differences.length > 0 ? differences : [String(failure)];
  }
}

function tooManyDuplicates({ mails }: Remains, { mayDouble }: Toll): string[] {
  const duplicates = duplicatesAmong(mails);
  return duplicates > mayDouble ? [`${duplicates} mails came twice; at most ${mayDouble} were in flight`] : [];
}

function strangeAnswers({ trouble }: Load, mayTell: Fault["mayTell"]): string[] {
  if (mayTell === undefined) return [];
  return [...trouble.keys()].filter((word) => !mayTell.includes(word)).map((word) => `clients were told ${word}`);
}

/** A request that was repeated under its key must never have made a second job. */
function unknownJobs(events: readonly RawEvent[], earlier: ReadonlyMap<string, unknown>, { accepted }: Load) {
  const known = new Set(accepted.map(({ jobId }) => jobId));
  const made = [...foldLog(events).keys()].filter((jobId) => !earlier.has(jobId) && !known.has(jobId));
  return made.map((jobId) => `${jobId} was made, and no client was told`);
}
