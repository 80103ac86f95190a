import type { CompleteConfig, Config } from "../config.ts";
import { createLifecycle } from "../lifecycle.ts";
import { createLogger } from "../logger.ts";
import { DataDirInUse } from "../standalone/cannot-start.ts";
import { readAddresses } from "../standalone/running-addresses.ts";
import { startStandalone } from "../standalone/standalone.ts";
import { connectParts, type Parts } from "../wiring.ts";
import type { CommandContext } from "./command-context.ts";

/** Statements that make or drop large tables say nothing until they are through. */
const silenceMs = 600_000;

type Servers = { readonly config: CompleteConfig; stop(): Promise<void> };

/** Connects to log and database, does the work, and lets go. */
export async function onReadModels(context: CommandContext, work: (parts: Parts) => Promise<void>): Promise<void> {
  // A command sends no mail: without SMTP_URL it must not start a mailbox of its own.
  const settings = context.readConfig();
  const servers = await findServers({ ...settings, smtpUrl: settings.smtpUrl ?? "smtp://localhost" }, context);
  const { config } = servers;
  const logger = createLogger(config.logLevel, context.isTerminal, config.processName);
  const lifecycle = createLifecycle((failure, name) =>
    logger.error({ part: name, err: failure }, "could not be stopped"),
  );
  try {
    await work(await connectParts(config, logger, null, lifecycle, { silenceMs }));
  } finally {
    await lifecycle.stop();
    await servers.stop();
  }
}

/** The named ones; else those of the service that runs in the data folder; else one's own, for as long as it takes. */
async function findServers(config: Config, { tell }: CommandContext): Promise<Servers> {
  try {
    return await startStandalone(config, tell);
  } catch (failure) {
    const running = failure instanceof DataDirInUse ? await readAddresses(config.dataDir) : null;
    if (running === null) throw failure;
    const { nats, mysqlUrl, smtpUrl } = config;
    const complete = { ...config, nats: nats ?? running.nats, mysqlUrl: mysqlUrl ?? running.mysqlUrl };
    return { config: { ...complete, smtpUrl: smtpUrl ?? "" }, stop: async () => {} };
  }
}
