import { createLifecycle } from "../lifecycle.ts";
import { createLogger } from "../logger.ts";
import { connectParts, type Parts } from "../parts.ts";
import type { CommandContext } from "./command-context.ts";
import { expectDatabase, expectNats } from "./expect-servers.ts";
import { findServers } from "./find-servers.ts";

/** Statements that make or drop large tables say nothing until they are through. */
const silenceMs = 600_000;

/** Connects to log and database, does the work, and lets go. */
export async function onReadModels(context: CommandContext, work: (parts: Parts) => Promise<void>): Promise<void> {
  const servers = await findServers(context.readConfig(), context, "nats-and-database");
  const { config } = servers;
  const logger = createLogger(config.logLevel, context.isTerminal, config.processName);
  const lifecycle = createLifecycle((failure, name) =>
    logger.error({ part: name, err: failure }, "could not be stopped"),
  );
  try {
    await expectNats(config.nats);
    await expectDatabase(config.mysqlUrl);
    await work(await connectParts(config, logger, null, lifecycle, { silenceMs }));
  } finally {
    await lifecycle.stop();
    await servers.stop();
  }
}
