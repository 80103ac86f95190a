import { eventually } from "../support/eventually.ts";
import { type FoldedJob, foldLog, hasEnded } from "./fold-of-log.ts";
import { changesOf, duplicatesAmong, type Remains, violationsIn } from "./invariants.ts";
import type { AcceptedJob, Load } from "./load.ts";
import type { RawEvent } from "./log-reader.ts";
import type { Observed } from "./observed.ts";
import { differencesFromLog } from "./read-models.ts";

/** The log as it was when a cell began. */
export type Before = { readonly events: readonly RawEvent[] };

export const lookBefore = async ({ log }: Observed): Promise<Before> => ({ events: [...(await log.read())] });

const projectedWithinMs = 30_000;

/** What the cell left behind, once each of its jobs has ended. Throws where one does not in time. */
export async function untilEnded(
  { log, mailServer }: Observed,
  { accepted }: Pick<Load, "accepted">,
  { events }: Before,
  withinMs: number,
): Promise<Remains> {
  const jobs = await eventually(async () => {
    // What was there before is left out: the logs of stages that are shared become long.
    const since = (await log.read()).slice(events.length);
    const folded = foldLog(since);
    const known = accepted.map((job) => ({ ...job, folded: folded.get(job.jobId) }));
    const open = known.filter((job) => job.folded === undefined || !hasEnded(job.folded));
    if (open.length > 0) throw new Error(`${open.length} jobs did not end: ${describe(open)}; ${lately(since)}`);
    return known as Remains["jobs"];
  }, withinMs);
  const addresses = new Set(jobs.flatMap(({ recipients }) => recipients));
  return { jobs, mails: mailServer.mails.filter(({ to }) => to.some((address) => addresses.has(address))) };
}

const describe = (jobs: readonly (AcceptedJob & { readonly folded: FoldedJob | undefined })[]): string =>
  jobs
    .slice(0, 5)
    .map(({ jobId, folded }) => `${jobId} is ${folded?.status ?? "not in the log"}`)
    .join(", ");

/** What the log was about in the end: whether the work went on slowly, was refused, or stood still. */
function lately(events: readonly RawEvent[]): string {
  const last = events.slice(-1000);
  const counts = new Map<string, number>();
  for (const { type, data } of last) {
    const what = [type, data["error"] ?? data["response"]].filter((part) => part !== undefined && part !== null);
    counts.set(JSON.stringify(what), (counts.get(JSON.stringify(what)) ?? 0) + 1);
  }
  const often = [...counts].sort(([, one], [, other]) => other - one).slice(0, 8);
  const times = `from ${last[0]?.time} to ${last.at(-1)?.time}, and it is ${new Date().toISOString()}`;
  return `the last ${last.length} events, ${times}: ${often.map(([what, count]) => `${count}× ${what}`).join(", ")}`;
}

/** What must hold after any fault, besides what the read models say: sentences about what does not. */
export async function violationsAfter(
  observed: Observed,
  before: Before,
  { accepted, wrong }: Pick<Load, "accepted" | "wrong">,
  remains: Remains,
  mayDouble: number,
): Promise<string[]> {
  // Some of it was read before the fault.
  const known = await observed.log.read();
  return [
    ...violationsIn(remains),
    ...changesOf(known, await observed.log.readAll()),
    ...tooManyDuplicates(remains, mayDouble),
    ...wrong,
    ...unknownJobs(known, before, accepted),
  ];
}

/**
 * Where the read models differ from the log: they come later than the log, and what they say in the end counts. To look at
 * all jobs may take longer than the read models may be late, so only those that differed are looked at again.
 */
export async function untilProjected(observed: Observed, { jobs }: Remains): Promise<readonly string[]> {
  let differing = await eventually(() => differencesFromLog(observed, jobs), projectedWithinMs);
  const look = async (): Promise<void> => {
    if (differing.size > 0) differing = await differencesFromLog(observed, [...differing.keys()]);
    const [found] = differing.values();
    if (found !== undefined) throw new Error(found[0]);
  };
  await eventually(look, projectedWithinMs).catch(() => {});
  return [...differing.values()].flat();
}

function tooManyDuplicates({ mails }: Remains, mayDouble: number): string[] {
  const duplicates = duplicatesAmong(mails);
  return duplicates > mayDouble ? [`${duplicates} mails came twice; at most ${mayDouble} were in flight`] : [];
}

/** A request that was repeated under its key must never have made a second job. */
function unknownJobs(events: readonly RawEvent[], before: Before, accepted: readonly AcceptedJob[]): string[] {
  const known = new Set(accepted.map(({ jobId }) => jobId));
  const made = [...foldLog(events.slice(before.events.length)).keys()].filter((jobId) => !known.has(jobId));
  return made.map((jobId) => `${jobId} was made, and no client was told`);
}
