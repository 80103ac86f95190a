import type { Logger } from "pino";
import { createWaitingList } from "../../projections/waiting/waiting-list.ts";
import type { CompleteConfig } from "../config.ts";
import { createJetStreamDecisionFeed } from "../event-log/jetstream-durable-feed.ts";
import type { Mailbox } from "../http/routes/mailbox.ts";
import { createLifecycle } from "../lifecycle.ts";
import { never, untilInterrupted } from "../nats/patience.ts";
import { createCrowd } from "../scheduler/crowd.ts";
import { listenToCrowd } from "../scheduler/jetstream-crowd.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import { createTimer } from "../scheduler/timer.ts";
import { startAlerts } from "./alerts-role.ts";
import { openDoors, startApi, startOperatorsApi } from "./api-role.ts";
import { startErasing } from "./erasure-role.ts";
import { createOutageReport } from "./outage-report.ts";
import { startOutbox } from "./outbox-role.ts";
import { connectParts, type Parts } from "./parts.ts";
import { startProjecting } from "./projector-role.ts";
import { startSealer } from "./seals-role.ts";
import { createStarting } from "./starting.ts";
import { createWatch } from "./watch.ts";
import { startWebhooks } from "./webhooks-role.ts";
import { startWorkers } from "./worker-role.ts";

export type Service = {
  /** Where the API listens; null in a process that does not play that role. */
  readonly url: string | null;
  /** Where health and metrics are answered without a key; null where nobody asked for it. */
  readonly healthUrl: string | null;
  stop(): Promise<void>;
};

/**
 * Connects to the servers and starts the roles of this process. Waits for NATS for as long as it takes, and answers for
 * its health meanwhile; MySQL may come later. `project` starts the projectors, here or elsewhere. Throws
 * WaitInterrupted, with everything stopped, where the signal aborts before all is started.
 */
export async function startService(
  config: CompleteConfig,
  logger: Logger,
  mailbox: Mailbox | null,
  project: (parts: Parts) => Promise<void> = startProjecting,
  interrupted: AbortSignal = never,
): Promise<Service> {
  const lifecycle = createLifecycle((failure, name) =>
    logger.error({ part: name, err: failure }, "could not be stopped"),
  );
  const starting = createStarting(config.nats.servers, logger, interrupted);
  try {
    const doors = await openDoors(config, logger, lifecycle, starting.probes);
    const parts = await connectParts(config, logger, mailbox, lifecycle, starting.patiently);
    // In the order in which work flows backwards: whoever acts on an event is there before whoever makes it.
    if (config.roles.has("projector")) await untilInterrupted(project(parts), interrupted);
    const workers = config.roles.has("worker") ? await startWorkers(parts) : null;
    if (config.roles.has("webhooks")) await startWebhooks(parts);
    if (config.roles.has("scheduler")) {
      startScheduler(parts);
      startErasing(parts);
    }
    if (config.roles.has("outbox")) await startOutbox(parts);
    const seals = config.roles.has("scheduler") ? await startSealer(parts) : null;
    const watch = await createWatch(parts, workers, seals);
    if (config.roles.has("webhooks")) await startAlerts(parts, watch);
    const healthUrl = doors.health === null ? null : startOperatorsApi(parts, watch, doors.health);
    const url = doors.api === null ? null : await startApi(parts, watch, doors.api);
    return { url, healthUrl, stop: lifecycle.stop };
  } catch (failure) {
    await lifecycle.stop();
    throw failure;
  }
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
