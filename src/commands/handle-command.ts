import { randomUUID } from "node:crypto";
import type { JobCommand } from "../domain/job/commands.ts";
import { jobDecider, stateAfter } from "../domain/job/decider.ts";
import type { JobEvent } from "../domain/job/events.ts";
import type { JobRejection, JobState } from "../domain/job/state.ts";
import {
  type Cause,
  type EventLog,
  type Fact,
  type JobRef,
  type NewEntry,
  type NewEvent,
  type StoredEvent,
  VersionConflict,
} from "../event-log/event-log.ts";

/** `sequence` is that of the job's last decision, the new one or an older one; 0 for a job that does not exist. */
export type CommandOutcome =
  | {
      readonly outcome: "accepted";
      readonly events: readonly JobEvent[];
      readonly state: JobState;
      readonly sequence: number;
    }
  | { readonly outcome: "rejected"; readonly rejection: JobRejection; readonly sequence: number };

/** The state on a job's own subject, and the sequence that guards the next decision. */
export type JobVersion = { readonly state: JobState; readonly sequence: number };

export type EntryOf = (decision: NewEvent<JobEvent>) => NewEntry<JobEvent | Fact>;

type Options = {
  /** The state that the caller read a moment ago, to save a read. A stale one costs a conflict, nothing else. */
  readonly from?: JobVersion;
  /** The entry in which a new decision is stored, with the facts that belong to it; by default the decision alone. */
  readonly entryOf?: EntryOf;
  /** How many conflicts with other writers are tolerated before VersionConflict is thrown. */
  readonly maxConflicts?: number;
};

/** The state of a job whose id was generated a moment ago. */
export const newJob: JobVersion = { state: jobDecider.initialState, sequence: 0 };

/** More competing writers than this for one job at one moment are a defect, not a race. */
const usualMaxConflicts = 20;

/** Reads the job, decides, appends; decides again on the new state if another writer was faster. */
export async function handleCommand(
  log: EventLog,
  job: JobRef,
  command: JobCommand,
  cause: Cause,
  options: Options = {},
): Promise<CommandOutcome> {
  const maxConflicts = options.maxConflicts ?? usualMaxConflicts;
  let version = options.from ?? (await readJob(log, job));
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await decideAndAppend(log, job, command, cause, version, options.entryOf ?? alone);
    } catch (failure) {
      if (!(failure instanceof VersionConflict) || conflicts === maxConflicts) throw failure;
      version = await readJob(log, job);
    }
  }
}

/** The state of a job by its own subject. */
export const readJob = async (log: EventLog, job: JobRef): Promise<JobVersion> =>
  foldDecisions(await log.readDecisions(job));

export const foldDecisions = (decisions: readonly StoredEvent<JobEvent>[]): JobVersion => ({
  state: stateAfter(decisions.map(({ event }) => event)),
  sequence: decisions.at(-1)?.sequence ?? 0,
});

const alone: EntryOf = (decision) => [decision];

async function decideAndAppend(
  log: EventLog,
  job: JobRef,
  command: JobCommand,
  cause: Cause,
  version: JobVersion,
  entryOf: EntryOf,
): Promise<CommandOutcome> {
  const decision = jobDecider.decide(command, version.state);
  if (decision.outcome === "rejected") return { ...decision, sequence: version.sequence };
  const { events } = decision;
  const [event] = events;
  if (event === undefined) return { outcome: "accepted", events, ...version };
  // Competing writers take the same decision about the same version: the id identifies the decision, in case its answer
  // is lost.
  const id = `${job.jobId}/${version.sequence}/${event.type}/${randomUUID().slice(0, 8)}`;
  const sequence = await log.append(job, entryOf({ ...cause, id, event }), version.sequence);
  return { outcome: "accepted", events, state: jobDecider.evolve(version.state, event), sequence };
}
