import type { Knex } from "knex";
import { allProjectors } from "../../projections/all-projectors.ts";
import { readStopped, type StoppedProjection } from "../../projections/following/projection-status.ts";
import { findSchemaGap } from "../../projections/following/schema-gap.ts";
import type { BreakerState } from "../domain/unavailable.ts";
import type { EventLog } from "../event-log/event-log.ts";
import type { LogCanary } from "../event-log/jetstream-canary.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import type { AppendTrouble } from "../event-log/observe-appends.ts";
import type { LogServer } from "../nats/server-version.ts";
import type { StandstillOfKind } from "../workers/standstill.ts";
import type { Condition, Probe } from "./probe.ts";

/** What the workers of a process show of themselves. */
export type WorkersView = {
  /** Of the breaker before the mail server. */
  readonly breaker: () => BreakerState;
  /** Of those that have taken no work for some time. */
  readonly standstills: () => readonly StandstillOfKind[];
};

export type ProbeDependencies = {
  /** Names of roles: the probes ask whether `api`, `projector` and `outbox` are among them. */
  readonly roles: ReadonlySet<string>;
  readonly log: EventLog;
  readonly room: LogRoom;
  readonly canary: LogCanary;
  readonly appendTrouble: AppendTrouble;
  readonly logServer: () => LogServer | null;
  readonly db: Knex;
  /** AUTO_MIGRATE. */
  readonly mayChangeTables: boolean;
  /** Null in a process that has none. */
  readonly workers: WorkersView | null;
  /** Null in a process that seals nothing. */
  readonly seals: (() => Condition) | null;
};

/**
 * What `/readyz` looks at. A process that takes jobs is ready without the database and without the mail server: they
 * are accepted while either is away, and taking the process out of service for it would break that promise.
 */
export function probesFor(dependencies: ProbeDependencies): readonly Probe[] {
  const { roles, db, workers, seals } = dependencies;
  const takesJobs = roles.has("api");
  return [
    { name: "nats", isNeeded: true, check: () => examineLog(dependencies) },
    {
      name: "mysql",
      isNeeded: (roles.has("projector") || roles.has("outbox")) && !takesJobs,
      check: () => examineDatabase(db, dependencies.mayChangeTables),
    },
    ...(workers === null ? [] : probesOfWorkers(workers, takesJobs)),
    // Mails go out without seals; that a log was rolled back is for somebody to look at, and to say so is all.
    ...(seals === null ? [] : [{ name: "seals", isNeeded: false, check: async () => seals() }]),
  ];
}

const probesOfWorkers = ({ breaker, standstills }: WorkersView, takesJobs: boolean): readonly Probe[] => [
  { name: "mail", isNeeded: !takesJobs, check: async () => toCondition(breaker()) },
  // What keeps them from it is down itself where it is needed, and another process would fare no better.
  { name: "workers", isNeeded: false, check: async () => conditionOfWorkers(standstills()) },
];

/** The error is for the log: anybody may ask here. */
function conditionOfWorkers(standstills: readonly StandstillOfKind[]): Condition {
  if (standstills.length === 0) return { status: "up" };
  return { status: "degraded", standstills: standstills.map(({ type, reason, since }) => ({ type, reason, since })) };
}

/**
 * NATS is there when it stores something. A log that has no room left for jobs is not away: outcomes are stored and
 * everything but new jobs is served, in this process and in no other better.
 */
async function examineLog({ log, room, canary, appendTrouble, logServer }: ProbeDependencies): Promise<Condition> {
  await canary.check();
  if (appendTrouble.isFresh()) throw new Error("The last append to the log had no answer.");
  const [{ lastSequence }, hasRoom] = await Promise.all([log.state(), room.isLeftForJobs()]);
  return { status: hasRoom ? "up" : "degraded", lastSequence, acceptsJobs: hasRoom, ...logServer() };
}

/**
 * What is missing is named with the command that makes it, where this process makes nothing itself: it goes on once the
 * tables are there. Where it may, it is at it, and lists say so themselves meanwhile.
 */
async function examineDatabase(db: Knex, mayChangeTables: boolean): Promise<Condition> {
  const gap = mayChangeTables ? null : await findSchemaGap(db, allProjectors);
  if (gap === null) return conditionWith(await readStopped(db));
  const { missing, outdated, command } = gap;
  return { status: "down", missing, outdated, command };
}

/** Those that stopped are served as they are; the command shows what they stand before, and how to go on. */
function conditionWith(stopped: readonly StoppedProjection[]): Condition {
  if (stopped.length === 0) return { status: "up" };
  const commandFor = ({ atSequence }: StoppedProjection): object =>
    atSequence === null ? {} : { command: `waybill log show ${atSequence}` };
  return { status: "degraded", stopped: stopped.map((one) => ({ ...one, ...commandFor(one) })) };
}

/** The mail server is not asked for this: who signs in every second to see whether it is there may be locked out. */
const toCondition = (breaker: BreakerState): Condition => ({ status: breaker === "closed" ? "up" : "down", breaker });
