import type { Logger } from "pino";
import type { Mailbox } from "../http/routes/mailbox.ts";
import { never, untilInterrupted } from "../nats/patience.ts";
import { createLifecycle } from "../process/lifecycle.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { startAlerts } from "./alerts-role.ts";
import { openListeners, startApi, startOperatorsApi } from "./api-role.ts";
import { startBounces } from "./bounces-role.ts";
import { startErasing } from "./erasure-role.ts";
import { startFeedback } from "./feedback-role.ts";
import { mostMsOf } from "./grace.ts";
import { shareKeys } from "./keys.ts";
import { followRoutes } from "./mail-routes-role.ts";
import { startMailings } from "./mailings-role.ts";
import { createMonitoring } from "./monitoring.ts";
import { startOutbox } from "./outbox-role.ts";
import { connectParts, type Parts } from "./parts.ts";
import { startProjecting } from "./projector-role.ts";
import { startScheduler } from "./scheduler-role.ts";
import { startSchedules } from "./schedules-role.ts";
import { startSealer } from "./seals-role.ts";
import { watchForShutLog } from "./shut-log.ts";
import { createStarting } from "./startup.ts";
import { startRecipientWebhooks, startWebhooks } from "./webhooks-role.ts";
import { startWorkers } from "./worker-role.ts";

export type Service = {
  /** The URL of the API; null in a process without that role. */
  readonly url: string | null;
  /** The URL that serves health and metrics without a key; null if HEALTH_PORT is not set. */
  readonly healthUrl: string | null;
  stop(): Promise<void>;
};

/**
 * Connects to the servers and starts the roles of this process. Waits for NATS without a limit and serves health
 * meanwhile; MySQL may become available later. `project` starts the projectors, on this thread or another one. If the
 * signal aborts before everything has started, stops what was started and throws WaitInterrupted.
 */
export async function startService(
  config: CompleteConfig,
  logger: Logger,
  mailbox: Mailbox | null,
  project: (parts: Parts) => Promise<void> = startProjecting,
  interrupted: AbortSignal = never,
): Promise<Service> {
  const lifecycle = createLifecycle(
    (failure, name) => logger.error({ part: name, err: failure }, "could not be stopped"),
    mostMsOf(config),
  );
  const starting = createStarting(config.nats.servers, logger, interrupted);
  try {
    const listeners = await openListeners(config, logger, lifecycle, starting.probes);
    const parts = await connectParts(config, logger, mailbox, lifecycle, starting.patiently);
    // The order is against the flow of work: the consumers of an event start before its producers.
    if (config.roles.has("projector")) await untilInterrupted(project(parts), interrupted);
    const book = await followRoutes(parts);
    const keys = shareKeys(parts);
    const workers = config.roles.has("worker") ? await startWorkers(parts, book) : null;
    if (config.roles.has("webhooks")) {
      await startWebhooks(parts);
      await startRecipientWebhooks(parts);
    }
    if (config.roles.has("scheduler")) {
      watchForShutLog(parts);
      startScheduler(parts);
      startErasing(parts);
      await startFeedback(parts);
      startMailings(parts);
      await startSchedules(parts, book, keys);
    }
    if (config.roles.has("bounces")) await startBounces(parts);
    if (config.roles.has("outbox")) await startOutbox(parts, book, keys);
    const seals = config.roles.has("scheduler") ? await startSealer(parts) : null;
    const monitoring = await createMonitoring(parts, workers, seals);
    if (config.roles.has("webhooks")) await startAlerts(parts, monitoring);
    const healthUrl = listeners.health === null ? null : startOperatorsApi(parts, monitoring, listeners.health);
    const url = listeners.api === null ? null : await startApi(parts, monitoring, book, keys, listeners.api);
    return { url, healthUrl, stop: lifecycle.stop };
  } catch (failure) {
    await lifecycle.stop();
    throw failure;
  }
}
