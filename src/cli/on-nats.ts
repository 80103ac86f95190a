import type { CompleteConfig } from "../config.ts";
import type { JetStreamConnection } from "../nats/connection.ts";
import { type Patience, WaitInterrupted } from "../nats/patience.ts";
import { connectOrExplain } from "../roles/parts.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { patienceFor } from "./command-patience.ts";
import { findServers } from "./find-servers.ts";

/**
 * Connects to NATS and to nothing else, does the work, and lets go. What the work may do twice it does `patiently`,
 * so that one slow answer does not end the command.
 */
export async function onNats<Result>(
  context: CommandContext,
  work: (connection: JetStreamConnection, config: CompleteConfig, patiently: Patience) => Promise<Result>,
): Promise<Result> {
  const servers = await findServers(context.readConfig(), context, "nats");
  try {
    const patiently = patienceFor(context, servers.config);
    const connection = await connectOrExplain(servers.config, context.tell, patiently);
    try {
      return await work(connection, servers.config, patiently).catch((failure: unknown) => {
        throw isWithoutLog(failure) ? new CommandFailed("There is no log here yet: the service makes it.") : failure;
      });
    } finally {
      await connection.close();
    }
  } catch (failure) {
    throw failure instanceof WaitInterrupted ? new CommandFailed("Interrupted.") : failure;
  } finally {
    await servers.stop();
  }
}

/** In the words of the server, where nobody has made the streams. */
const isWithoutLog = (failure: unknown): boolean => failure instanceof Error && failure.message === "stream not found";
