import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import type { Command } from "commander";
import { createService, type Json } from "../client/service.ts";
import { roles } from "../config.ts";
import { createLogger } from "../logger.ts";
import { WaitInterrupted } from "../nats/patience.ts";
import { loadProjectorThread } from "../roles/projector-thread.ts";
import type { Service } from "../roles/wiring.ts";
import { type Standalone, startStandalone } from "../standalone/standalone.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { graceMs, installLastResort, type UncaughtError } from "./last-resort.ts";

/**
 * In percent of what is in use. Where a machine has memory to spare the engine lets the heap grow to five times that, and
 * a projector under load goes up and down between 150 and 230 MB; with this it stays below 170 MB for the same CPU time.
 */
const heapGrowth = 50;

type StartOptions = { readonly roles?: string; readonly demo?: boolean };

/** `start`. */
export function addStartCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("start")
    .description("run the service; what has no address in the settings is started along with it")
    .option("--roles <roles>", `some of ${roles.join(",")}; all of them by default`)
    .option("--demo", "send a small mailing to invented people, which the built-in mailbox catches")
    .action((options: StartOptions) => start(context, options));
  explain(command, {
    examples: [
      "waybill start",
      "waybill start --demo",
      "PORT=8080 waybill start",
      "waybill start --roles worker,scheduler",
    ],
    exits: ["stopped in order, by SIGTERM or SIGINT", "could not start, not stop in time, or met an uncaught error"],
    notes: `Without NATS_URL, MYSQL_URL and SMTP_URL it brings servers of its own along, with their data in DATA_DIR
(default: .waybill), and a mailbox that catches every mail. It listens on HOST and PORT (default: 127.0.0.1, 3000).`,
  });
}

/** Runs the roles of this process until it is interrupted. */
async function start(context: CommandContext, options: StartOptions): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${heapGrowth}`);
  const config = context.readConfig(options.roles === undefined ? {} : { ROLES: options.roles });
  if (options.demo && config.smtpUrl !== null) {
    throw new WrongUsage("--demo is for the built-in mailbox: SMTP_URL names a mail server, which would deliver it");
  }
  const logger = createLogger(config.logLevel, context.isTerminal, config.processName);
  const broken = installLastResort(logger, config.shutdownTimeoutMs + graceMs);
  const over = AbortSignal.any([context.interrupted, broken]);
  // To load all of the service takes as long as its servers take to start.
  const loading = import("../roles/wiring.ts");
  const isProjectingBesides = config.roles.has("projector") && config.roles.size > 1;
  const project = isProjectingBesides ? loadProjectorThread(context.isTerminal) : undefined;
  const standalone = await startStandalone(config, context.tell);
  try {
    const { startService } = await loading;
    const { config: complete, mailbox } = standalone;
    const service = await startService(complete, logger, mailbox, project, over);
    try {
      greet(context, service, standalone);
      if (options.demo && service.url !== null) await demonstrate(context, service.url, config.serviceKey);
      if (!over.aborted) await once(over, "abort");
      logger.info("stopping");
    } finally {
      await service.stop();
    }
  } catch (failure) {
    // To be told to stop before all is there is no failure.
    if (!(failure instanceof WaitInterrupted)) throw failure;
  } finally {
    await standalone.stop();
  }
  logger.info("stopped");
  if (broken.aborted) throw new CommandFailed((broken.reason as UncaughtError).message);
}

/** Always the same: a service that is started with --demo again has sent the mailing already. */
const demoKey = "waybill-demo";

const demoNames = ["Ada", "Bob", "Cleo", "Dan", "Eve", "Finn", "Grace", "Heidi", "Ivan", "Judy", "Mallory", "Olivia"];

const demoMailing = {
  name: "Demo",
  subject: "Hello {{ name }}",
  body: "<h1>Hello {{ name }}</h1><p>This mail went nowhere: the mailbox of this machine has caught it.</p>",
  recipients: demoNames.map((name) => ({ email: `${name.toLowerCase()}@example.com`, variables: { name } })),
};

/** Sends a small mailing to invented people. Fails where a key is needed and none is given: a service in use needs no demo. */
async function demonstrate({ tell, interrupted }: CommandContext, url: string, key: string | null): Promise<void> {
  const service = createService({ url, key }, interrupted);
  const headers = { "Idempotency-Key": demoKey };
  try {
    const { body }: { body: Json } = await service.ask("/api/jobs", { method: "POST", body: demoMailing, headers });
    tell(`\nA demo mailing is on its way: ${url}/#/jobs/${body.jobId}`);
  } catch (failure) {
    tell(`No demo mailing was sent: ${failure instanceof Error ? failure.message : failure}`);
  }
}

/**
 * In words where somebody sits at a terminal, beside the log. Elsewhere programs read standard output: then it is a line
 * of JSON as those of the log, and there at any LOG_LEVEL, as it is all that tells the port that PORT=0 has taken.
 */
function greet(context: CommandContext, service: Service, standalone: Standalone): void {
  if (context.isTerminal) {
    for (const line of greeting(service, standalone)) context.tell(line);
    return;
  }
  const { url, healthUrl } = service;
  const { processName, roles } = standalone.config;
  context.print(
    JSON.stringify({
      level: "info",
      time: new Date().toISOString(),
      process: processName,
      roles: [...roles],
      dashboard: url === null ? null : `${url}/`,
      api: url === null ? null : `${url}/api/jobs`,
      mailbox: url === null || standalone.mailbox === null ? null : `${url}/mailbox`,
      health: (healthUrl ?? url) === null ? null : `${healthUrl ?? url}/readyz`,
      msg: "waybill is ready",
    }),
  );
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
