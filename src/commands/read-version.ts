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
import type { EventLog, JobRef, StoredEvent } from "../event-log/event-log.ts";

export type Decided = JobEvent | MailingEvent | ScheduleEvent;

/** What decisions are made about: its rules, and where in the log its decisions are. */
export type Aggregate<Command, State, Event extends Decided, Rejection> = {
  readonly decider: Decider<Command, State, Event, Rejection>;
  /** All decisions, or those from the one of a sequence on, where the log can leave out the others. */
  readonly read: (log: EventLog, ref: JobRef, from?: number) => Promise<readonly StoredEvent<Event>[]>;
};

export const jobs: Aggregate<JobCommand, JobState, JobEvent, JobRejection> = {
  decider: jobDecider,
  read: (log, job) => log.readDecisions(job),
};

export const mailings: Aggregate<MailingCommand, MailingState, MailingEvent, MailingRejection> = {
  decider: mailingDecider,
  read: (log, mailing, from) => log.readMailing(mailing, from),
};

/** The last decision is enough, see Schedule. */
export const schedules: Aggregate<ScheduleCommand, ScheduleState, ScheduleEvent, ScheduleRejection> = {
  decider: scheduleDecider,
  read: async (log, schedule) => {
    const last = await log.readSchedule(schedule);
    return last === null ? [] : [last];
  },
};

/** The state on its own subject, and the sequence that guards the next decision. */
export type Version<State> = { readonly state: State; readonly sequence: number };

export type JobVersion = Version<JobState>;
export type MailingVersion = Version<MailingState>;
export type ScheduleVersion = Version<ScheduleState>;

/** The state of a job whose id was generated a moment ago. */
export const newJob: JobVersion = { state: jobDecider.initialState, sequence: 0 };

/** The same of a mailing. */
export const newMailing: MailingVersion = { state: mailingDecider.initialState, sequence: 0 };

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

export const readVersion = async <Command, State, Event extends Decided, Rejection>(
  aggregate: Aggregate<Command, State, Event, Rejection>,
  log: EventLog,
  ref: JobRef,
): Promise<Version<State>> => fold(aggregate, await aggregate.read(log, ref));

/**
 * The same, with the state as it was a moment ago. Others decide about a large mailing every second or two, and its whole
 * history takes about as long to read.
 */
export async function readNews<Command, State, Event extends Decided, Rejection>(
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
