import type { Knex } from "knex";
import type { Logger } from "pino";
import { allProjectors } from "../../projections/all-projectors.ts";
import { createProjectionLags, type ProjectionLag } from "../../projections/following/projection-lag.ts";
import { createStatsQueries, type StatsQueries } from "../../projections/jobs/stats/queries.ts";
import type { EventLog, JobRef, NewEvent, WaybillEvent } from "../event-log/event-log.ts";
import { createJetStreamLogGauge } from "../event-log/following/jetstream-log-gauge.ts";
import type { LogGauge } from "../event-log/following/log-gauge.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import {
  type Append,
  type AppendOutcome,
  type AppendTrouble,
  createAppendTrouble,
} from "../event-log/observe-appends.ts";
import { traceIdOf } from "../event-log/traceparent.ts";
import { probesFor, type WorkersView } from "../health/health-probes.ts";
import { createJetStreamCanary } from "../health/jetstream-canary.ts";
import { type Condition, conditionOf } from "../health/probe.ts";
import type { OperatorsDependencies } from "../http/operators-api.ts";
import { createServiceMetrics, type ServiceMetrics } from "../metrics/service-metrics.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { logServerOf } from "../nats/server-version.ts";
import { createMysqlOutboxGauge } from "../outbox/mysql-outbox.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { readVersion } from "../settings/release.ts";

/** Is called while the work is done, and feeds the metrics, the probes and the log of this process. */
export type Observer = {
  readonly metrics: ServiceMetrics;
  readonly appendTrouble: AppendTrouble;
  readonly appended: (append: Append) => void;
  readonly contentStored: (outcome: AppendOutcome) => void;
};

export function createObserver(connection: JetStreamConnection, logger: Logger): Observer {
  const metrics = createServiceMetrics(readVersion());
  const appendTrouble = createAppendTrouble();
  connection.onReconnect(appendTrouble.forget);
  return {
    metrics,
    appendTrouble,
    appended: (append) => {
      appendTrouble.heard(append.outcome);
      metrics.appended(append);
      logAppend(logger, append);
    },
    contentStored: appendTrouble.heard,
  };
}

/** Steps that are not part of a request and so have no log line from one. Frequent steps have the level debug. */
const levels: Partial<Record<WaybillEvent["type"], "info" | "debug">> = {
  JobStarted: "info",
  JobReleased: "info",
  JobRetryScheduled: "info",
  JobCompleted: "info",
  JobFailed: "info",
  WebhookDelivered: "info",
  WebhookFailed: "info",
};

/** Logs one line for each step of a job that this process took, with the request and the trace that started the job. */
function logAppend(logger: Logger, { job, entry, outcome }: Append): void {
  if (outcome === "stored") for (const event of entry) logStored(logger, job, event);
}

function logStored(logger: Logger, job: JobRef, { event, ...cause }: NewEvent): void {
  const level = levels[event.type];
  if (level === undefined) return;
  const turn = "run" in event.data && "attempt" in event.data ? toTurn(event.data) : {};
  const requestId = cause.correlationId ?? undefined;
  const traceId = traceIdOf(cause.traceparent);
  const line = { jobId: job.jobId, tenant: job.tenant, event: event.type, ...turn, reason: reasonIn(event) };
  logger[level]({ ...line, requestId, traceId }, "recorded");
}

/** The reason of a failure. It names no recipient, as it is in the log for ever. */
function reasonIn({ data }: WaybillEvent): string | undefined {
  if (!("error" in data) || typeof data.error !== "object" || data.error === null) return undefined;
  return `${data.error.code}: ${data.error.message}`;
}

const toTurn = ({ run, attempt }: { readonly run: number; readonly attempt: number }) => ({ run, attempt });

type MonitoredParts = {
  readonly config: CompleteConfig;
  readonly logger: Logger;
  readonly connection: JetStreamConnection;
  readonly log: EventLog;
  readonly room: LogRoom;
  readonly db: Knex;
  readonly reads: Knex;
  readonly observer: Observer;
};

/** Everything that shows operators how the service is doing. */
export type Monitoring = OperatorsDependencies & {
  readonly stats: StatsQueries;
  readonly projectionLags: () => Promise<readonly ProjectionLag[]>;
  readonly logGauge: LogGauge;
};

/** `workers` is null in a process without workers, `seals` in one that seals nothing. */
export async function createMonitoring(
  parts: MonitoredParts,
  workers: WorkersView | null,
  seals: (() => Condition) | null = null,
): Promise<Monitoring> {
  const { config, logger, connection, log, room, db, reads, observer } = parts;
  const prefix = config.natsPrefix;
  const gauge = await createJetStreamLogGauge(connection, prefix);
  const stats = createStatsQueries(reads);
  const projectionLags = createProjectionLags(reads, allProjectors, gauge);
  const probes = probesFor({
    roles: config.roles,
    log,
    room,
    canary: createJetStreamCanary(connection, prefix, config.streamReplicas),
    appendTrouble: observer.appendTrouble,
    logServer: () => logServerOf(connection, config.nats.isOwn),
    db,
    mayChangeTables: config.autoMigrate,
    workers,
    seals,
  });
  const examine = async () =>
    new Map(await Promise.all(probes.map(async (probe) => [probe.name, await conditionOf(probe, logger)] as const)));
  if (workers !== null) observer.metrics.mail.watchRoutes(workers.routes);
  const metrics = observer.metrics.page({
    stats,
    projectionLags,
    log: gauge,
    outbox: createMysqlOutboxGauge(db),
    isConnected: connection.isUp,
    examine,
  });
  return { probes, metrics, logger, stats, projectionLags, logGauge: gauge };
}
