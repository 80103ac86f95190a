import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import type { Command } from "commander";
import { WaitInterrupted } from "../nats/patience.ts";
import { createLogger } from "../process/logger.ts";
import { loadProjectorThread } from "../roles/projector-thread.ts";
import type { Service } from "../roles/wiring.ts";
import { type CompleteConfig, roles, sendsMails } from "../settings/config.ts";
import { StartStopped } from "../standalone/child-server.ts";
import { createDemoAnswers } from "../standalone/demo-answers.ts";
import { type Standalone, startStandalone } from "../standalone/standalone.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { demonstrate } from "./demo.ts";
import { explain } from "./explain.ts";
import { graceMs, installLastResort, type UncaughtError } from "./last-resort.ts";

/**
 * In percent of the memory in use. On a machine with free memory V8 lets the heap grow to five times that, and a projector
 * under load varies between 150 and 230 MB; with this limit it stays below 170 MB for the same CPU time.
 */
const heapGrowth = 50;

type StartOptions = { readonly roles?: string; readonly demo?: boolean };

/** `start`. */
export function addStartCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("start")
    .description("run the service, and start the servers that the settings do not name")
    .option("--roles <roles>", `some of ${roles.join(",")}; all of them by default`)
    .option(
      "--demo",
      "send three mailings to invented people within two minutes; the built-in mailbox catches them, and refuses some",
    )
    .action((options: StartOptions) => start(context, options));
  explain(command, {
    examples: [
      "waybill start",
      "waybill start --demo",
      "PORT=8080 waybill start",
      "waybill start --roles worker,scheduler",
    ],
    exits: ["stopped by SIGTERM or SIGINT", "could not start, did not stop in time, or had an uncaught error"],
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
  const logger = createLogger(config.logLevel, context.logForm, config.processName);
  const broken = installLastResort(logger, config.shutdownTimeoutMs + graceMs);
  const over = AbortSignal.any([context.interrupted, broken]);
  // Loading the service takes as long as its servers take to start.
  const loading = import("../roles/wiring.ts");
  const isProjectingBesides = config.roles.has("projector") && config.roles.size > 1;
  const project = isProjectingBesides ? loadProjectorThread(context.logForm) : undefined;
  let standalone: Standalone | null = null;
  try {
    standalone = await startStandalone(config, context.tell, {
      answerRecipient: options.demo ? createDemoAnswers() : undefined,
      onStep: context.isTerminal ? context.tell : () => {},
      signal: over,
    });
    const { startService } = await loading;
    const { config: complete, mailbox } = standalone;
    const service = await startService(complete, logger, mailbox, project, over);
    try {
      greet(context, service, standalone);
      if (options.demo && service.url !== null) void demonstrate(context, { url: service.url, key: config.serviceKey });
      if (!over.aborted) await once(over, "abort");
      logger.info("stopping");
    } finally {
      await service.stop();
    }
  } catch (failure) {
    // A stop during the start is not a failure.
    if (!(failure instanceof WaitInterrupted || failure instanceof StartStopped)) throw failure;
  } finally {
    await standalone?.stop();
  }
  logger.info("stopped");
  if (broken.aborted) throw new CommandFailed((broken.reason as UncaughtError).message);
}

/**
 * Prints the addresses as text if standard error is a terminal. Otherwise a program may read standard output, so it is one
 * line of JSON like those of the log, printed at any LOG_LEVEL: nothing else shows the port that PORT=0 has chosen.
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

export function greeting(
  { url, healthUrl }: Pick<Service, "url" | "healthUrl">,
  { config, mailbox }: Pick<Standalone, "config" | "mailbox">,
): readonly string[] {
  const health = healthUrl === null ? [] : [`  Health     ${healthUrl}/readyz and /metrics, without a key`];
  if (url === null) return [`Waybill is ready: ${[...config.roles].join(", ")}.`, ...health];
  return [
    "Waybill is ready.",
    "",
    `  Dashboard  ${url}/`,
    `  API        ${url}/api/jobs`,
    ...whereMailsGo(url, config, mailbox !== null),
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

function whereMailsGo(url: string, config: CompleteConfig, isCaught: boolean): readonly string[] {
  if (isCaught) return [`  Mailbox    ${url}/mailbox (catches every mail; none leaves this machine)`];
  if (!sendsMails(config)) return [];
  return [`  Mails      really leave this machine, by ${withoutPassword(config.smtpUrl)} (SMTP_URL)`];
}

/** The mail server, without what only it and Waybill may know. */
function withoutPassword(smtpUrl: string): string {
  const { protocol, host } = new URL(smtpUrl);
  return `${protocol}//${host}`;
}
