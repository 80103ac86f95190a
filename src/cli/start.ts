import { once } from "node:events";
import { createLogger } from "../logger.ts";
import { type Standalone, startStandalone } from "../standalone/standalone.ts";
import { startService } from "../wiring.ts";
import type { CommandContext } from "./command-context.ts";

/** Runs the roles of this process until it is interrupted. */
export async function start(context: CommandContext, options: { readonly roles?: string }): Promise<void> {
  const config = context.readConfig(options.roles === undefined ? {} : { ROLES: options.roles });
  const logger = createLogger(config.logLevel, context.isTerminal, config.processName);
  const standalone = await startStandalone(config, context.tell);
  try {
    const service = await startService(standalone.config, logger, standalone.mailbox);
    try {
      for (const line of greeting(service.url, standalone)) context.print(line);
      if (!context.interrupted.aborted) await once(context.interrupted, "abort");
      logger.info("stopping");
    } finally {
      await service.stop();
    }
  } finally {
    await standalone.stop();
  }
  logger.info("stopped");
}

function greeting(url: string | null, { config, mailbox }: Standalone): readonly string[] {
  if (url === null) return [`Waybill is ready: ${[...config.roles].join(", ")}.`];
  const isCatching = mailbox !== null;
  return [
    "Waybill is ready.",
    "",
    `  API      ${url}/api/jobs`,
    ...(isCatching ? [`  Mailbox  ${url}/mailbox (catches every mail; none leaves this machine)`] : []),
    `  Health   ${url}/readyz`,
    "",
    "Send a mailing:",
    "",
    `  curl -s ${url}/api/jobs -H 'Content-Type: application/json' -d '{`,
    '    "subject": "Hello from Waybill",',
    '    "body": "<p>It works.</p>",',
    '    "recipients": ["ada@example.com", "bob@example.com"]',
    "  }'",
    "",
    "Ctrl-C stops everything.",
  ];
}
