import { randomUUID } from "node:crypto";
import type { Decider } from "../domain/decider.ts";
import type { JobCommand } from "../domain/job/commands.ts";
import { jobDecider } from "../domain/job/decider.ts";
import type { JobEvent } from "../domain/job/events.ts";
import type { JobRejection, JobState } from "../domain/job/state.ts";
import type { MailingCommand } from "../domain/mailing/commands.ts";
import { mailingDecider } from "../domain/mailing/decider.ts";
import type { MailingEvent } from "../domain/mailing/events.ts";
import type { MailingRejection, MailingState } from "../domain/mailing/state.ts";
import {
  type ScheduleCommand,
  type ScheduleRejection,
  type ScheduleState,
  scheduleDecider,
} from "../domain/schedule/decider.ts";
import type { ScheduleEvent } from "../domain/schedule/events.ts";
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

type Decided = JobEvent | MailingEvent | ScheduleEvent;

/** What decisions are made about: its rules, and where in the log its decisions are. */
type Aggregate<Command, State, Event extends Decided, Rejection> = {
  readonly decider: Decider<Command, State, Event, Rejection>;
  /** All decisions, or those from the one of a sequence on, where the log can leave out the others. */
  readonly read: (log: EventLog, ref: JobRef, from?: number) => Promise<readonly StoredEvent<Event>[]>;
};

const jobs: Aggregate<JobCommand, JobState, JobEvent, JobRejection> = {
  decider: jobDecider,
  read: (log, job) => log.readDecisions(job),
};

const mailings: Aggregate<MailingCommand, MailingState, MailingEvent, MailingRejection> = {
  decider: mailingDecider,
  read: (log, mailing, from) => log.readMailing(mailing, from),
};

/** The last decision is enough, see Schedule. */
const schedules: Aggregate<ScheduleCommand, ScheduleState, ScheduleEvent, ScheduleRejection> = {
  decider: scheduleDecider,
  read: async (log, schedule) => {
    const last = await log.readSchedule(schedule);
    return last === null ? [] : [last];
  },
};

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

/** The state on its own subject, and the sequence that guards the next decision. */
type Version<State> = { readonly state: State; readonly sequence: number };

export type JobVersion = Version<JobState>;
export type MailingVersion = Version<MailingState>;
export type ScheduleVersion = Version<ScheduleState>;

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

/** The state of a job whose id was generated a moment ago. */
export const newJob: JobVersion = { state: jobDecider.initialState, sequence: 0 };

/** The same of a mailing. */
export const newMailing: MailingVersion = { state: mailingDecider.initialState, sequence: 0 };

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

/** The state of a job by its own subject. */
export const readJob = (log: EventLog, job: JobRef): Promise<JobVersion> => readVersion(jobs, log, job);

/** The state of a mailing by its own subject. */
export const readMailing = (log: EventLog, mailing: JobRef): Promise<MailingVersion> =>
  readVersion(mailings, log, mailing);

/** The state of a schedule by its own subject. */
export const readSchedule = (log: EventLog, schedule: JobRef): Promise<ScheduleVersion> =>
  readVersion(schedules, log, schedule);

export const foldMailing = (decisions: readonly StoredEvent<MailingEvent>[]): MailingVersion =>
  fold(mailings, decisions);

export const foldDecisions = (decisions: readonly StoredEvent<JobEvent>[]): JobVersion => fold(jobs, decisions);

const fold = <Command, State, Event extends Decided, Rejection>(
  { decider }: Aggregate<Command, State, Event, Rejection>,
  decisions: readonly StoredEvent<Event>[],
  after: Version<State> = { state: decider.initialState, sequence: 0 },
): Version<State> => ({
  state: decisions.reduce((state, { event }) => decider.evolve(state, event), after.state),
  sequence: decisions.at(-1)?.sequence ?? after.sequence,
});

const readVersion = async <Command, State, Event extends Decided, Rejection>(
  aggregate: Aggregate<Command, State, Event, Rejection>,
  log: EventLog,
  ref: JobRef,
): Promise<Version<State>> => fold(aggregate, await aggregate.read(log, ref));

/**
 * The same, with the state as it was a moment ago. Others decide about a large mailing every second or two, and its whole
 * history takes about as long to read.
 */
async function readNews<Command, State, Event extends Decided, Rejection>(
  aggregate: Aggregate<Command, State, Event, Rejection>,
  log: EventLog,
  ref: JobRef,
  known: Version<State>,
): Promise<Version<State>> {
  if (known.sequence === 0) return await readVersion(aggregate, log, ref);
  const decisions = await aggregate.read(log, ref, known.sequence);
  if (decisions[0]?.sequence !== known.sequence) return fold(aggregate, decisions);
  return fold(
    aggregate,
    decisions.filter(({ sequence }) => sequence > known.sequence),
    known,
  );
}

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
