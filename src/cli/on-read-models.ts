import { createLifecycle } from "../lifecycle.ts";
import { createLogger } from "../logger.ts";
import { WaitInterrupted } from "../nats/patience.ts";
import { connectParts, type Parts } from "../roles/parts.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { patienceFor } from "./command-patience.ts";
import { expectDatabase } from "./expect-servers.ts";
import { findServers } from "./find-servers.ts";

/** Statements that make or drop large tables say nothing until they are through. */
const silenceMs = 600_000;

/** Connects to log and database, does the work, and lets go. */
export async function onReadModels(context: CommandContext, work: (parts: Parts) => Promise<void>): Promise<void> {
  const servers = await findServers(context.readConfig(), context, "nats-and-database");
  const { config } = servers;
  const patiently = patienceFor(context, config);
  const logger = createLogger(config.logLevel, context.isTerminal, config.processName);
  const lifecycle = createLifecycle((failure, name) =>
    logger.error({ part: name, err: failure }, "could not be stopped"),
  );
  try {
    await expectDatabase(config.mysqlUrl);
    const { log, ...parts } = await connectParts(config, logger, null, lifecycle, patiently, { silenceMs });
    // To ask where the log ends is all that the work on read models asks of it but once.
    await work({ ...parts, log: { ...log, state: () => patiently(log.state) } });
  } catch (failure) {
    throw failure instanceof WaitInterrupted ? new CommandFailed("Interrupted.") : failure;
  } finally {
    await lifecycle.stop();
    await servers.stop();
  }
}
