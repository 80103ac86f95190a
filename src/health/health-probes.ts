import type { Knex } from "knex";
import { allProjectors } from "../../projections/all-projectors.ts";
import { readStopped, type StoppedProjection } from "../../projections/following/projection-status.ts";
import { findSchemaGap } from "../../projections/following/schema-gap.ts";
import type { RouteState } from "../domain/recipients/route-state.ts";
import type { BreakerState } from "../domain/unavailable.ts";
import type { EventLog } from "../event-log/event-log.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import type { AppendTrouble } from "../event-log/observe-appends.ts";
import type { LogServer } from "../nats/server-version.ts";
import type { StandstillOfKind } from "../workers/standstill.ts";
import type { LogCanary } from "./jetstream-canary.ts";
import type { Condition, Probe } from "./probe.ts";

/** The state of the workers of a process. */
export type WorkersView = {
  /** The state of the circuit breaker of the best mail route. */
  readonly breaker: () => BreakerState;
  /** Each mail route. */
  readonly routes: () => readonly RouteState[];
  /** The workers that have taken no work for some time. */
  readonly standstills: () => readonly StandstillOfKind[];
};

export type ProbeDependencies = {
  /** The roles of this process: the probes depend on `api`, `projector` and `outbox`. */
  readonly roles: ReadonlySet<string>;
  readonly log: EventLog;
  readonly room: LogRoom;
  readonly canary: LogCanary;
  readonly appendTrouble: AppendTrouble;
  readonly logServer: () => LogServer | null;
  readonly db: Knex;
  /** The setting AUTO_MIGRATE. */
  readonly mayChangeTables: boolean;
  /** Null in a process without workers. */
  readonly workers: Omit<WorkersView, "routes"> | null;
  /** Null in a process that seals nothing. */
  readonly seals: (() => Condition) | null;
};

/**
 * The probes of `/readyz`. A process that accepts jobs is ready without the database and without the mail server: Waybill
 * promises to accept jobs while either is unavailable, and taking the process out of service would break that promise.
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
    // Mails go out without seals. A rolled-back log needs an operator, so this probe only reports it.
    ...(seals === null ? [] : [{ name: "seals", isNeeded: false, check: async () => seals() }]),
  ];
}

const probesOfWorkers = (
  { breaker, standstills }: Omit<WorkersView, "routes">,
  takesJobs: boolean,
): readonly Probe[] => [
  { name: "mail", isNeeded: !takesJobs, check: async () => toCondition(breaker()) },
  // A needed dependency that stops the workers has a probe of its own, and another process would do no better.
  { name: "workers", isNeeded: false, check: async () => conditionOfWorkers(standstills()) },
];

/** The error goes only to the log, because `/readyz` needs no key. */
function conditionOfWorkers(standstills: readonly StandstillOfKind[]): Condition {
  if (standstills.length === 0) return { status: "up" };
  return { status: "degraded", standstills: standstills.map(({ type, reason, since }) => ({ type, reason, since })) };
}

/**
 * NATS is up if it stores a message. A log without room for jobs is degraded, not down: outcomes are stored and
 * everything but new jobs is served, and another process could not do more.
 */
async function examineLog({ log, room, canary, appendTrouble, logServer }: ProbeDependencies): Promise<Condition> {
  await canary.check();
  if (appendTrouble.isFresh()) throw new Error("The last append to the log had no answer.");
  const [{ lastSequence }, hasRoom] = await Promise.all([log.state(), room.isLeftForJobs()]);
  return { status: hasRoom ? "up" : "degraded", lastSequence, acceptsJobs: hasRoom, ...logServer() };
}

/**
 * In a process that may not change tables, names the missing tables and the command that creates them; the process goes
 * on once they exist. A process that may change tables is already creating them, and queries report that meanwhile.
 */
async function examineDatabase(db: Knex, mayChangeTables: boolean): Promise<Condition> {
  const gap = mayChangeTables ? null : await findSchemaGap(db, allProjectors);
  if (gap === null) return conditionWith(await readStopped(db));
  const { missing, outdated, command } = gap;
  return { status: "down", missing, outdated, command };
}

/** Stopped read models are served as they are. The command shows the event at which they stopped, and how to go on. */
function conditionWith(stopped: readonly StoppedProjection[]): Condition {
  if (stopped.length === 0) return { status: "up" };
  const commandFor = ({ atSequence }: StoppedProjection): object =>
    atSequence === null ? {} : { command: `waybill log show ${atSequence}` };
  return { status: "degraded", stopped: stopped.map((one) => ({ ...one, ...commandFor(one) })) };
}

/** The probe does not ask the mail server: a client that signs in every second may be locked out. */
const toCondition = (breaker: BreakerState): Condition => ({ status: breaker === "closed" ? "up" : "down", breaker });
