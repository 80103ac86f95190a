import { randomUUID } from "node:crypto";
import type { Decider } from "../domain/decider.ts";
import type { JobCommand } from "../domain/job/commands.ts";
import type { JobEvent } from "../domain/job/events.ts";
import type { JobRejection, JobState } from "../domain/job/state.ts";
import type { MailingCommand } from "../domain/mailing/commands.ts";
import type { MailingEvent } from "../domain/mailing/events.ts";
import type { MailingRejection, MailingState } from "../domain/mailing/state.ts";
import type { ScheduleCommand, ScheduleRejection, ScheduleState } from "../domain/schedule/decider.ts";
import type { ScheduleEvent } from "../domain/schedule/events.ts";
import type { Cause, EventLog, Fact, JobRef, NewEntry, NewEvent } from "../event-log/event-log.ts";
import { VersionConflict } from "../event-log/log-failures.ts";
import {
  type Aggregate,
  type Decided,
  jobs,
  mailings,
  readNews,
  readVersion,
  schedules,
  type Version,
} from "./read-version.ts";

/** `sequence` is that of the last decision, the new one or an older one; 0 for what does not exist. */
type OutcomeOf<State, Event, Rejection> =
  | {
      readonly outcome: "accepted";
      readonly events: readonly Event[];
      readonly state: State;
      readonly sequence: number;
    }
  | { readonly outcome: "rejected"; readonly rejection: Rejection; readonly sequence: number };

export type CommandOutcome = OutcomeOf<JobState, JobEvent, JobRejection>;
export type MailingOutcome = OutcomeOf<MailingState, MailingEvent, MailingRejection>;

export type ScheduleOutcome = OutcomeOf<ScheduleState, ScheduleEvent, ScheduleRejection>;

export type EntryOf = (decision: NewEvent<JobEvent>) => NewEntry<JobEvent | Fact>;

type Options<State> = {
  /** The state that the caller read a moment ago, to save a read. A stale one costs a conflict, nothing else. */
  readonly from?: Version<State>;
  /** How many conflicts with other writers are tolerated before VersionConflict is thrown. */
  readonly maxConflicts?: number;
};

type JobOptions = Options<JobState> & {
  /** The entry in which a new decision is stored, with the facts that belong to it; by default the decision alone. */
  readonly entryOf?: EntryOf;
};

/** More competing writers than this for one job at one moment are a defect, not a race. */
const usualMaxConflicts = 20;

/** Reads the job, decides, appends; decides again on the new state if another writer was faster. */
export const handleCommand = (
  log: EventLog,
  job: JobRef,
  command: JobCommand,
  cause: Cause,
  { entryOf, ...options }: JobOptions = {},
): Promise<CommandOutcome> => {
  // A decision about a job is one event.
  const toEntry = ([decision]: NewEntry<JobEvent>): NewEntry => entryOf?.(decision) ?? [decision];
  return handle(jobs, log, job, command, cause, toEntry, options);
};

/** The same for a mailing; what one decision consists of is stored as one entry. */
export const handleMailingCommand = (
  log: EventLog,
  mailing: JobRef,
  command: MailingCommand,
  cause: Cause,
  options: Options<MailingState> = {},
): Promise<MailingOutcome> => handle(mailings, log, mailing, command, cause, (entry) => entry, options);

/** The same for a schedule. */
export const handleScheduleCommand = (
  log: EventLog,
  schedule: JobRef,
  command: ScheduleCommand,
  cause: Cause,
  options: Options<ScheduleState> = {},
): Promise<ScheduleOutcome> => handle(schedules, log, schedule, command, cause, (entry) => entry, options);

async function handle<Command, State, Event extends Decided, Rejection>(
  aggregate: Aggregate<Command, State, Event, Rejection>,
  log: EventLog,
  ref: JobRef,
  command: Command,
  cause: Cause,
  toEntry: (decision: NewEntry<Event>) => NewEntry,
  { from, maxConflicts = usualMaxConflicts }: Options<State>,
): Promise<OutcomeOf<State, Event, Rejection>> {
  let version = from ?? (await readVersion(aggregate, log, ref));
  for (let conflicts = 0; ; conflicts += 1) {
    try {
      return await decideAndAppend(aggregate.decider, log, ref, command, cause, version, toEntry);
    } catch (failure) {
      if (!(failure instanceof VersionConflict) || conflicts === maxConflicts) throw failure;
      version = await readNews(aggregate, log, ref, version);
    }
  }
}

async function decideAndAppend<Command, State, Event extends Decided, Rejection>(
  decider: Decider<Command, State, Event, Rejection>,
  log: EventLog,
  ref: JobRef,
  command: Command,
  cause: Cause,
  version: Version<State>,
  toEntry: (decision: NewEntry<Event>) => NewEntry,
): Promise<OutcomeOf<State, Event, Rejection>> {
  const decision = decider.decide(command, version.state);
  if (decision.outcome === "rejected") return { ...decision, sequence: version.sequence };
  const { events } = decision;
  // Competing writers take the same decision about the same version: the id identifies the decision, in case its answer
  // is lost.
  const taken = randomUUID().slice(0, 8);
  const toNew = (event: Event): NewEvent<Event> => {
    const id = `${ref.jobId}/${version.sequence}/${event.type}/${taken}`;
    return { ...cause, id, event };
  };
  const [event, ...others] = events;
  if (event === undefined) return { outcome: "accepted", events, ...version };
  const entry = toEntry([toNew(event), ...others.map(toNew)]);
  const sequence = await log.append(ref, entry, version.sequence);
  return { outcome: "accepted", events, state: events.reduce(decider.evolve, version.state), sequence };
}
