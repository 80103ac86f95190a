import { createLifecycle } from "../lifecycle.ts";
import { createLogger } from "../logger.ts";
import { startStandalone } from "../standalone/standalone.ts";
import { connectParts, type Parts } from "../wiring.ts";
import type { CommandContext } from "./command-context.ts";

/** Connects to log and database, starting servers of one's own where none are named, does the work, and lets go. */
export async function onReadModels(context: CommandContext, work: (parts: Parts) => Promise<void>): Promise<void> {
  const config = context.readConfig();
  const logger = createLogger(config.logLevel, context.isTerminal, config.processName);
  // A command sends no mail: without SMTP_URL it must not wait for a mailbox of its own.
  const standalone = await startStandalone({ ...config, smtpUrl: config.smtpUrl ?? "smtp://localhost" }, context.tell);
  const lifecycle = createLifecycle((failure, name) =>
    logger.error({ part: name, err: failure }, "could not be stopped"),
  );
  try {
    await work(await connectParts(standalone.config, logger, null, lifecycle));
  } finally {
    await lifecycle.stop();
    await standalone.stop();
  }
}
