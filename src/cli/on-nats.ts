import type { CompleteConfig } from "../config.ts";
import { connectJetStream, type JetStreamConnection } from "../event-log/jetstream-connection.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { expectNats } from "./expect-servers.ts";
import { findServers } from "./find-servers.ts";

/** Connects to NATS and to nothing else, does the work, and lets go. */
export async function onNats<Result>(
  context: CommandContext,
  work: (connection: JetStreamConnection, config: CompleteConfig) => Promise<Result>,
): Promise<Result> {
  const servers = await findServers(context.readConfig(), context, "nats");
  try {
    const { nats, processName } = servers.config;
    await expectNats(nats);
    const connection = await connectJetStream(nats, processName, context.tell);
    try {
      return await work(connection, servers.config).catch((failure: unknown) => {
        throw isWithoutLog(failure) ? new CommandFailed("There is no log here yet: the service makes it.") : failure;
      });
    } finally {
      await connection.close();
    }
  } finally {
    await servers.stop();
  }
}

/** In the words of the server, where nobody has made the streams. */
const isWithoutLog = (failure: unknown): boolean => failure instanceof Error && failure.message === "stream not found";
