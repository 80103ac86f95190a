import type { Knex } from "knex";
import { allProjectors } from "../../projections/all-projectors.ts";
import { createProjectionLags, type ProjectionLag } from "../../projections/following/projection-lag.ts";
import { createStatsQueries, type StatsQueries } from "../../projections/stats/queries.ts";
import type { CompleteConfig } from "../config.ts";
import type { EventLog } from "../event-log/event-log.ts";
import { createJetStreamCanary } from "../event-log/jetstream-canary.ts";
import { createJetStreamLogGauge } from "../event-log/jetstream-log-gauge.ts";
import type { LogGauge } from "../event-log/log-gauge.ts";
import type { LogRoom } from "../event-log/log-room.ts";
import {
  type Append,
  type AppendOutcome,
  type AppendTrouble,
  createAppendTrouble,
} from "../event-log/observe-appends.ts";
import { probesFor, type WorkersView } from "../health/health-probes.ts";
import { type Condition, conditionOf } from "../health/probe.ts";
import type { OperatorsDependencies } from "../http/operators-api.ts";
import { createServiceMetrics, type ServiceMetrics } from "../metrics/service-metrics.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { logServerOf } from "../nats/durability.ts";
import { createMysqlOutboxGauge } from "../outbox/mysql-outbox.ts";

/** What hears of the work while it is done. */
export type Witness = {
  readonly metrics: ServiceMetrics;
  readonly appendTrouble: AppendTrouble;
  readonly appended: (append: Append) => void;
  readonly contentStored: (outcome: AppendOutcome) => void;
};

export function createWitness(connection: JetStreamConnection): Witness {
  const metrics = createServiceMetrics();
  const appendTrouble = createAppendTrouble();
  connection.onReconnect(appendTrouble.forget);
  return {
    metrics,
    appendTrouble,
    appended: (append) => {
      appendTrouble.heard(append.outcome);
      metrics.appended(append);
    },
    contentStored: appendTrouble.heard,
  };
}

export type WatchedParts = {
  readonly config: CompleteConfig;
  readonly logger: OperatorsDependencies["logger"];
  readonly connection: JetStreamConnection;
  readonly log: EventLog;
  readonly room: LogRoom;
  readonly db: Knex;
  readonly reads: Knex;
  readonly witness: Witness;
};

/** Everything that tells people how the service does. */
export type Watch = OperatorsDependencies & {
  readonly stats: StatsQueries;
  readonly projectionLags: () => Promise<readonly ProjectionLag[]>;
  readonly logGauge: LogGauge;
};

/** `workers` is null in a process that has none, `seals` in one that seals nothing. */
export async function createWatch(
  parts: WatchedParts,
  workers: WorkersView | null,
  seals: (() => Condition) | null = null,
): Promise<Watch> {
  const { config, logger, connection, log, room, db, reads, witness } = parts;
  const prefix = config.natsPrefix;
  const gauge = await createJetStreamLogGauge(connection, prefix);
  const stats = createStatsQueries(reads);
  const projectionLags = createProjectionLags(reads, allProjectors, gauge);
  const probes = probesFor({
    roles: config.roles,
    log,
    room,
    canary: createJetStreamCanary(connection, prefix, config.streamReplicas),
    appendTrouble: witness.appendTrouble,
    logServer: () => logServerOf(connection),
    db,
    mayChangeTables: config.autoMigrate,
    workers,
    seals,
  });
  const examine = async () =>
    new Map(await Promise.all(probes.map(async (probe) => [probe.name, await conditionOf(probe, logger)] as const)));
  if (workers !== null) witness.metrics.mail.watchBreaker(workers.breaker);
  const metrics = witness.metrics.page({
    stats,
    projectionLags,
    log: gauge,
    outbox: createMysqlOutboxGauge(db),
    isConnected: connection.isUp,
    examine,
  });
  return { probes, metrics, logger, stats, projectionLags, logGauge: gauge };
}
