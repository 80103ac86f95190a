import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import type { Command } from "commander";
import { roles } from "../config.ts";
import { createLogger } from "../logger.ts";
import { type Standalone, startStandalone } from "../standalone/standalone.ts";
import type { Service } from "../wiring.ts";
import type { CommandContext } from "./command-context.ts";
import { explain } from "./explain.ts";

/**
 * In percent of what is in use. Where a machine has memory to spare the engine lets the heap grow to five times that, and
 * a projector under load goes up and down between 150 and 230 MB; with this it stays below 170 MB for the same CPU time.
 */
const heapGrowth = 50;

/** `start`. */
export function addStartCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("start")
    .description("run the service; what has no address in the settings is started along with it")
    .option("--roles <roles>", `some of ${roles.join(",")}; all of them by default`)
    .action((options: { roles?: string }) => start(context, options));
  explain(command, {
    examples: ["waybill start", "PORT=8080 waybill start", "waybill start --roles worker,scheduler"],
    exits: ["stopped in order, by SIGTERM or SIGINT", "could not start, or not stop in time"],
    notes: `Without NATS_URL, MYSQL_URL and SMTP_URL it brings servers of its own along, with their data in DATA_DIR
(default: .waybill), and a mailbox that catches every mail. It listens on HOST and PORT (default: 127.0.0.1, 3000).`,
  });
}

/** Runs the roles of this process until it is interrupted. */
async function start(context: CommandContext, options: { readonly roles?: string }): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${heapGrowth}`);
  const config = context.readConfig(options.roles === undefined ? {} : { ROLES: options.roles });
  const logger = createLogger(config.logLevel, context.isTerminal, config.processName);
  // To load all of the service takes as long as its servers take to start.
  const loading = import("../wiring.ts");
  const standalone = await startStandalone(config, context.tell);
  try {
    const { startService } = await loading;
    const service = await startService(standalone.config, logger, standalone.mailbox);
    try {
      for (const line of greeting(service, standalone)) context.print(line);
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

function greeting({ url, healthUrl }: Service, { config, mailbox }: Standalone): readonly string[] {
  const health = healthUrl === null ? [] : [`  Health     ${healthUrl}/readyz and /metrics, without a key`];
  if (url === null) return [`Waybill is ready: ${[...config.roles].join(", ")}.`, ...health];
  const isCatching = mailbox !== null;
  return [
    "Waybill is ready.",
    "",
    `  Dashboard  ${url}/`,
    `  API        ${url}/api/jobs`,
    ...(isCatching ? [`  Mailbox    ${url}/mailbox (catches every mail; none leaves this machine)`] : []),
    ...(healthUrl === null ? [`  Health     ${url}/readyz`] : health),
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
