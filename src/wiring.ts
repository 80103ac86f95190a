import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { allProjectors } from "../projections/all-projectors.ts";
import { createContentReader } from "../projections/content-reader.ts";
import { migrateWhenReachable } from "../projections/migrate-when-reachable.ts";
import { createProjectorRunner } from "../projections/run-projector.ts";
import { shareFollowing } from "../projections/share-following.ts";
import { createWaitingList } from "../projections/waiting/waiting-list.ts";
import { startAlerts } from "./alerts-role.ts";
import { startApi, startOperatorsApi } from "./api-role.ts";
import type { CompleteConfig } from "./config.ts";
import { startErasing } from "./erasure-role.ts";
import type { Mailbox } from "./http/routes/mailbox.ts";
import { createLifecycle } from "./lifecycle.ts";
import { createOutageReport } from "./outage-report.ts";
import { startOutbox } from "./outbox-role.ts";
import { connectParts, type Parts } from "./parts.ts";
import { startRebuilds } from "./rebuilds-role.ts";
import { createCrowd } from "./scheduler/crowd.ts";
import { listenToCrowd } from "./scheduler/jetstream-crowd.ts";
import { createJetStreamDecisionFeed } from "./scheduler/jetstream-decision-feed.ts";
import { createScheduler } from "./scheduler/scheduler.ts";
import { createTimer } from "./scheduler/timer.ts";
import { startSealer } from "./seals-role.ts";
import { createWatch } from "./watch.ts";
import { startWebhooks } from "./webhooks-role.ts";
import { startWorkers } from "./worker-role.ts";

/** A database that is there is up to date by then; one that is away keeps nobody from taking jobs. */
const migratedSoonMs = 5000;

export type Service = {
  /** Where the API listens; null in a process that does not play that role. */
  readonly url: string | null;
  /** Where health and metrics are answered without a key; null where nobody asked for it. */
  readonly healthUrl: string | null;
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
    if (config.roles.has("projector")) {
      await startProjectors(parts);
      startRebuilds(parts);
    }
    const breaker = config.roles.has("worker") ? await startWorkers(parts) : null;
    if (config.roles.has("webhooks")) await startWebhooks(parts);
    if (config.roles.has("scheduler")) {
      startScheduler(parts);
      startErasing(parts);
    }
    if (config.roles.has("outbox")) await startOutbox(parts);
    const seals = config.roles.has("scheduler") ? await startSealer(parts) : null;
    const watch = await createWatch(parts, breaker, seals);
    if (config.roles.has("webhooks")) await startAlerts(parts, watch);
    const healthUrl = config.healthPort === null ? null : await startOperatorsApi(parts, watch, config.healthPort);
    const url = config.roles.has("api") ? await startApi(parts, watch) : null;
    return { url, healthUrl, stop: lifecycle.stop };
  } catch (failure) {
    await lifecycle.stop();
    throw failure;
  }
}

async function startProjectors(parts: Parts): Promise<void> {
  const { config, db, contentStore, announcements, logger, lifecycle } = parts;
  const stopping = new AbortController();
  const sources = { readContent: createContentReader(contentStore) };
  const log = shareFollowing(parts.log);
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

function startScheduler({ config, logger, connection, log, db, lifecycle }: Parts): void {
  const feed = createJetStreamDecisionFeed(connection, config.natsPrefix, "scheduler", (notice) =>
    logger.error(notice),
  );
  const crowd = createCrowd();
  const stopListening = listenToCrowd(connection, config.natsPrefix, crowd);
  const scheduler = createScheduler(log, feed, crowd, createOutageReport(logger, "scheduler"));
  const timer = createTimer(log, createWaitingList(db), crowd, createOutageReport(logger, "timer"));
  scheduler.start();
  timer.start();
  lifecycle.started("the scheduler", async () => {
    await Promise.all([scheduler.stop(), timer.stop()]);
    stopListening();
  });
}
