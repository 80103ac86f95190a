import type { EventLog } from "../../src/event-log/event-log.ts";
import { createJetStreamEventLog } from "../../src/event-log/jetstream-event-log.ts";
import { ensureStreams } from "../../src/event-log/jetstream-streams.ts";
import { connectJetStream, type JetStreamConnection } from "../../src/nats/connection.ts";
import type { NatsConfig } from "../../src/settings/config.ts";

export type OpenedLog = {
  readonly log: EventLog;
  readonly connection: JetStreamConnection;
  readonly close: () => Promise<void>;
};

/** The log on streams of its own, made where they are not there. */
export async function openJetStreamLog(
  config: NatsConfig,
  prefix: string,
  { maxBytes = null, replicas = 1 }: { readonly maxBytes?: number | null; readonly replicas?: number } = {},
): Promise<OpenedLog> {
  const connection = await connectJetStream(config, "test", () => {});
  try {
    await ensureStreams(connection, { prefix, replicas, maxBytes });
    return { log: await createJetStreamEventLog(connection, prefix), connection, close: connection.close };
  } catch (failure) {
    await connection.close();
    throw failure;
  }
}
