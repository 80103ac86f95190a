#!/usr/bin/env node
import { existsSync } from "node:fs";
import process from "node:process";
import { Command, CommanderError } from "commander";
import type { CommandContext } from "./cli/command-context.ts";
import { CommandFailed } from "./cli/command-failed.ts";
import { addDoctorCommand } from "./cli/doctor.ts";
import { addEventsCommand } from "./cli/events.ts";
import { addJobsCommands } from "./cli/jobs.ts";
import { addKeyCommands } from "./cli/keys.ts";
import { migrateDatabase } from "./cli/migrate.ts";
import { addRebuildCommand } from "./cli/rebuild.ts";
import { addReplayCommand } from "./cli/replay.ts";
import { addSealCommands } from "./cli/seals.ts";
import { addSendCommand } from "./cli/send.ts";
import { start } from "./cli/start.ts";
import { addTenantCommands } from "./cli/tenants.ts";
import { addVerifyCommand } from "./cli/verify.ts";
import { addWebhookCommands } from "./cli/webhooks.ts";
import { WrongUsage } from "./cli/wrong-usage.ts";
import { InvalidConfig, readConfig } from "./config.ts";
import { CannotStart } from "./standalone/cannot-start.ts";

const exitCodes = { done: 0, failed: 1, wrongUsage: 2 } as const;

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const tell = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

/** The first signal ends the work in hand, the second one ends everything at once. */
function onInterrupt(): AbortSignal {
  const interrupted = new AbortController();
  const interrupt = (): void => {
    if (interrupted.signal.aborted) process.exit(exitCodes.failed);
    interrupted.abort();
    // What hangs must not keep the process: servers of its own end with it.
    const { shutdownTimeoutMs } = readConfig(process.env);
    setTimeout(() => process.exit(exitCodes.failed), shutdownTimeoutMs + graceMs).unref();
  };
  process.on("SIGTERM", interrupt);
  process.on("SIGINT", interrupt);
  return interrupted.signal;
}

/** Beyond SHUTDOWN_TIMEOUT, for what is left to close after the work was given up. */
const graceMs = 2000;

function createProgram(context: CommandContext): Command {
  const program = new Command("waybill")
    .description("Bulk e-mail jobs over HTTP, with a history that can be replayed. Settings come from the environment.")
    .exitOverride();
  program
    .command("start")
    .description("run the service; what has no address in the settings is started along with it")
    .option("--roles <roles>", "api,scheduler,worker,projector,webhooks; all of them by default")
    .action((options: { roles?: string }) => start(context, options));
  program
    .command("migrate")
    .description("bring the database up to date")
    .action(() => migrateDatabase(context));
  addRebuildCommand(program, context);
  addSendCommand(program, context);
  addJobsCommands(program, context);
  addEventsCommand(program, context);
  addReplayCommand(program, context);
  addDoctorCommand(program, context);
  addKeyCommands(program, context);
  addTenantCommands(program, context);
  addWebhookCommands(program, context);
  addVerifyCommand(program, context);
  addSealCommands(program, context);
  return program;
}

async function main(): Promise<number> {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const context: CommandContext = {
    readConfig: (overrides = {}) => readConfig({ ...process.env, ...overrides }),
    print,
    tell,
    isTerminal: process.stderr.isTTY === true,
    overwrite: (text) => {
      process.stderr.write(text === null ? "\n" : `\r\x1b[K${text}`);
    },
    interrupted: onInterrupt(),
  };
  try {
    await createProgram(context).parseAsync();
    return exitCodes.done;
  } catch (failure) {
    return report(failure);
  }
}

function report(failure: unknown): number {
  // Commander has printed its own message, and help is no failure.
  if (failure instanceof CommanderError) return failure.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
  if (failure instanceof InvalidConfig || failure instanceof WrongUsage) {
    tell(failure.message);
    return exitCodes.wrongUsage;
  }
  const isExplained = failure instanceof CannotStart || failure instanceof CommandFailed;
  tell(isExplained ? failure.message : String(failure instanceof Error ? failure.stack : failure));
  return exitCodes.failed;
}

process.exitCode = await main();
