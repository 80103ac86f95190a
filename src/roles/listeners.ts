import type { Logger } from "pino";
import type { EventLog } from "../event-log/event-log.ts";
import { createJetStreamCheckpointStore } from "../event-log/following/jetstream-checkpoint-store.ts";
import { createListening, type Listener } from "../event-log/following/listener.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import type { Lifecycle } from "../process/lifecycle.ts";
import { createOutageReport } from "../process/logger.ts";
import type { CompleteConfig } from "../settings/config.ts";
import { graceMsOf } from "./grace.ts";

type ListenerParts = {
  readonly config: CompleteConfig;
  readonly logger: Logger;
  readonly connection: JetStreamConnection;
  readonly followed: EventLog;
  readonly lifecycle: Lifecycle;
};

/** Lets a listener act on the log until the process stops. */
export function startListener(
  { config, logger, connection, followed, lifecycle }: ListenerParts,
  listener: Listener,
  report = createOutageReport(logger, { part: listener.name }).failed,
): void {
  const { natsPrefix: prefix, streamReplicas: replicas } = config;
  const checkpoints = createJetStreamCheckpointStore(connection, { prefix, replicas });
  const listening = createListening({ log: followed, checkpoints, report }, listener);
  listening.start();
  // What is still in work by then is done again by the next process.
  lifecycle.started(`the listener ${listener.name}`, () => listening.stop(graceMsOf(config)));
}
