import { setTimeout as pause } from "node:timers/promises";
import type { Knex } from "knex";
import type { Logger } from "pino";
import { allProjectors } from "../projections/all-projectors.ts";
import { createContentReader } from "../projections/content-reader.ts";
import { createDatabase, type DatabaseOptions } from "../projections/database.ts";
import { createDeadLetterQueries } from "../projections/dead-letters/queries.ts";
import { createJobQueries } from "../projections/jobs/queries.ts";
import { createLogQueries } from "../projections/logs/queries.ts";
import { migrateWhenReachable } from "../projections/migrate-when-reachable.ts";
import { createReadPositions } from "../projections/read-position.ts";
import { createProjectorRunner } from "../projections/run-projector.ts";
import { createWaitingList } from "../projections/waiting/waiting-list.ts";
import type { CompleteConfig } from "./config.ts";
import type { ContentStore } from "./content/content-store.ts";
import { createJetStreamContentStore } from "./content/jetstream-content-store.ts";
import type { Announcements } from "./event-log/announcements.ts";
import type { EventLog } from "./event-log/event-log.ts";
import { createJetStreamAnnouncements } from "./event-log/jetstream-announcements.ts";
import { connectJetStream, type JetStreamConnection } from "./event-log/jetstream-connection.ts";
import { createJetStreamEventLog } from "./event-log/jetstream-event-log.ts";
import { createJetStreamLogRoom } from "./event-log/jetstream-log-room.ts";
import { ensureStreams } from "./event-log/jetstream-streams.ts";
import type { LogRoom } from "./event-log/log-room.ts";
import { probesFor } from "./health-probes.ts";
import { createApi } from "./http/api.ts";
import { listen } from "./http/listen.ts";
import type { Mailbox } from "./http/routes/mailbox.ts";
import { createLifecycle, type Lifecycle } from "./lifecycle.ts";
import { withBreaker } from "./mail/breaker.ts";
import { createPace } from "./mail/pace.ts";
import { createSmtpMailer } from "./mail/smtp-mailer.ts";
import { createOutageReport } from "./outage-report.ts";
import { createJetStreamDecisionFeed } from "./scheduler/jetstream-decision-feed.ts";
import { createScheduler } from "./scheduler/scheduler.ts";
import { createTimer } from "./scheduler/timer.ts";
import { createJetStreamWorkQueue } from "./work-queue/jetstream-work-queue.ts";
import { createMailWorker, queuePatienceMs } from "./workers/create-mail-worker.ts";
import { createJetStreamLeaseProbe } from "./workers/jetstream-lease-probe.ts";

/** What every role works with. */
export type Parts = {
  readonly config: CompleteConfig;
  readonly logger: Logger;
  readonly connection: JetStreamConnection;
  readonly log: EventLog;
  readonly room: LogRoom;
  readonly contentStore: ContentStore;
  readonly announcements: Announcements;
  readonly db: Knex;
  readonly mailbox: Mailbox | null;
  readonly lifecycle: Lifecycle;
};

/** A database that is there is up to date by then; one that is away keeps nobody from taking jobs. */
const migratedSoonMs = 5000;

export type Service = {
  /** Where the API listens; null in a process that does not play that role. */
  readonly url: string | null;
  stop(): Promise<void>;
};

/** Connects to the servers and starts the roles of this process. Waits for NATS; MySQL may come later. */
export async function startService(config: CompleteConfig, logger: Logger, mailbox: Mailbox | null): Promise<Service> {
  const lifecycle = createLifecycle((failure, name) =>
    logger.error({ part: name, err: failure }, "could not be stopped"),
  );
  try {
    const parts = await connectParts(config, logger, mailbox, lifecycle);
    // In the order in which work flows backwards: whoever acts on an event is there before whoever makes it.
    if (config.roles.has("projector")) await startProjectors(parts);
    if (config.roles.has("worker")) startWorker(parts);
    if (config.roles.has("scheduler")) startScheduler(parts);
    const url = config.roles.has("api") ? await startApi(parts) : null;
    return { url, stop: lifecycle.stop };
  } catch (failure) {
    await lifecycle.stop();
    throw failure;
  }
}

/** What the commands that work on the read models need. Stop it at the end. */
export async function connectParts(
  config: CompleteConfig,
  logger: Logger,
  mailbox: Mailbox | null,
  lifecycle: Lifecycle,
  databaseOptions: DatabaseOptions = {},
): Promise<Parts> {
  const prefix = config.natsPrefix;
  const notice = (message: string): void => logger.warn(message);
  const connection = await connectJetStream(config.nats, config.processName, notice);
  lifecycle.started("the connection to NATS", connection.close);
  await ensureStreams(connection, { prefix, replicas: config.streamReplicas, maxBytes: config.jobsMaxBytes });
  const room = await createJetStreamLogRoom(connection, prefix);
  const db = createDatabase(config.mysqlUrl, databaseOptions);
  lifecycle.started("the database connections", () => db.destroy());
  return {
    config,
    logger,
    connection,
    lifecycle,
    mailbox,
    db,
    room,
    log: await createJetStreamEventLog(connection, prefix, room.stored),
    contentStore: await createJetStreamContentStore(connection, prefix),
    announcements: createJetStreamAnnouncements(connection, prefix),
  };
}

async function startProjectors(parts: Parts): Promise<void> {
  const { config, db, log, contentStore, announcements, logger, lifecycle } = parts;
  const stopping = new AbortController();
  const sources = { readContent: createContentReader(contentStore) };
  const runners = allProjectors.map((projector) =>
    createProjectorRunner({ projector, db, log, sources, announcements, logger }),
  );
  const migrated = config.autoMigrate
    ? migrateWhenReachable(db, allProjectors, logger, stopping.signal)
    : Promise.resolve();
  const started = migrated.then(() => {
    if (!stopping.signal.aborted) for (const runner of runners) runner.start();
  });
  lifecycle.started("the projectors", async () => {
    stopping.abort();
    await started;
    await Promise.all(runners.map((runner) => runner.stop()));
  });
  await Promise.race([started, pause(migratedSoonMs, undefined, { ref: false })]);
}

function startWorker({ config, logger, connection, log, contentStore, lifecycle }: Parts): void {
  const prefix = config.natsPrefix;
  const mailer = withBreaker(
    createSmtpMailer({
      url: config.smtpUrl,
      maxConnections: config.smtpMaxConnections,
      timeoutMs: config.smtpTimeoutMs,
    }),
  );
  mailer.onChange((state) => logger.warn({ state }, "the breaker before the mail server"));
  const queue = createJetStreamWorkQueue(connection, { prefix, ackWaitMs: queuePatienceMs }, (notice) =>
    logger.error(notice),
  );
  const worker = createMailWorker(
    {
      log,
      contentStore,
      queue,
      probe: createJetStreamLeaseProbe(connection, prefix),
      mailer,
      pace: createPace(config.smtpRate),
    },
    {
      name: config.processName,
      concurrency: config.workerConcurrency,
      mailFrom: config.mailFrom,
      batchDelayMs: config.emailBatchDelayMs,
      retrySchedule: config.retry,
    },
    (failure, job) => logger.error({ jobId: job?.jobId, err: failure }, "a turn broke off; it is taken up again"),
  );
  worker.start();
  lifecycle.started("the mailer", mailer.close);
  lifecycle.started("the worker", () => worker.stop(config.shutdownTimeoutMs));
}

function startScheduler({ config, logger, connection, log, db, lifecycle }: Parts): void {
  const feed = createJetStreamDecisionFeed(connection, config.natsPrefix, (notice) => logger.error(notice));
  const scheduler = createScheduler(log, feed, createOutageReport(logger, "scheduler"));
  const timer = createTimer(log, createWaitingList(db), createOutageReport(logger, "timer"));
  scheduler.start();
  timer.start();
  lifecycle.started("the scheduler", async () => {
    await Promise.all([scheduler.stop(), timer.stop()]);
  });
}

async function startApi({
  config,
  logger,
  log,
  room,
  contentStore,
  db,
  announcements,
  mailbox,
  lifecycle,
}: Parts): Promise<string> {
  const app = createApi({
    log,
    room,
    contentStore,
    jobs: createJobQueries(db),
    logs: createLogQueries(db),
    deadLetters: createDeadLetterQueries(db),
    readPosition: createReadPositions(db, announcements),
    logger,
    maxAttempts: config.maxAttempts,
    now: () => new Date().toISOString(),
    probes: probesFor(config.roles, log, db),
    mailbox,
  });
  const { url, close } = await listen(app, config.host, config.port);
  lifecycle.started("the API", close);
  return url;
}
