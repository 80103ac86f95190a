#!/usr/bin/env -S node --min-semi-space-size=16 --max-semi-space-size=16
import { existsSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { WriteStream } from "node:tty";
import { askOnTerminal } from "./cli/ask-first.ts";
import type { ProcessContext } from "./cli/command-context.ts";
import { graceMs } from "./cli/last-resort.ts";
import { exitCodes, runCommandLine } from "./cli/run-command-line.ts";
import { nameSourcesInStackTraces } from "./process/stack-traces.ts";
import { paintFor } from "./process/terminal-line.ts";
import { homeFolder } from "./process/user.ts";
import { type Config, readConfig } from "./settings/config.ts";

/** SIGHUP comes where the terminal was closed: the mails in flight are to be finished then, too. */
const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
type StopSignal = (typeof stopSignals)[number];

/** The signal that a command was interrupted by. */
let stoppedBy: StopSignal = "SIGINT";

/** As shells have it: 130 for SIGINT, 143 for SIGTERM. */
const codeOfSignal = (): number => 128 + constants.signals[stoppedBy];

/** As the settings had it when they were read last: by the time of a signal, a file that they name may be that of the next release. */
let shutdownTimeoutMs = 10_000;

function readSettings(overrides: Readonly<Record<string, string>> = {}): Config {
  const config = readConfig({ ...process.env, ...overrides });
  shutdownTimeoutMs = config.shutdownTimeoutMs;
  return config;
}

/** The first signal lets the work in hand finish; the second one ends the process at once. */
function onInterrupt(): AbortSignal {
  const interrupted = new AbortController();
  const interrupt = (signal: StopSignal): void => {
    // Where a terminal was closed, the system and the shell send it one each.
    if (signal === "SIGHUP" && interrupted.signal.aborted) return;
    stoppedBy = signal;
    if (interrupted.signal.aborted) process.exit(codeOfSignal());
    interrupted.abort();
    // Hanging work must not keep the process alive. The servers that it started end with it.
    setTimeout(() => process.exit(exitCodes.failed), shutdownTimeoutMs + graceMs).unref();
  };
  for (const signal of stopSignals) process.on(signal, interrupt);
  return interrupted.signal;
}

const lingerMs = 100;

// The reader of a pipe may close it early (`waybill events | head`); that is not an error.
process.stdout.on("error", (failure: NodeJS.ErrnoException) => {
  if (failure.code === "EPIPE") process.exit(exitCodes.done);
  process.stderr.write(`The output cannot be written: ${failure.message}\n`);
  process.exit(exitCodes.failed);
});
// What is said there is for people: without a reader the work goes on.
process.stderr.on("error", () => {});

nameSourcesInStackTraces();
if (existsSync(".env")) process.loadEnvFile(".env");
const interrupted = onInterrupt();
const { stdin: input, stdout, stderr: output } = process;
/** Without a terminal, or with NO_COLOR, a stream has no colours. */
const hasColours = (stream: unknown): boolean => stream instanceof WriteStream && stream.hasColors();
const context: ProcessContext = {
  readConfig: readSettings,
  print: (line) => {
    process.stdout.write(`${line}\n`);
  },
  tell: (line) => {
    process.stderr.write(`${line}\n`);
  },
  isTerminal: output.isTTY === true,
  logForm: output.isTTY === true ? (hasColours(output) ? "coloured" : "plain") : "json",
  paint: paintFor(hasColours(stdout)),
  profileFile: join(process.env["XDG_CONFIG_HOME"] || join(homeFolder(), ".config"), "waybill", "config.json"),
  ask: input.isTTY && output.isTTY ? (question) => askOnTerminal({ input, output }, question, interrupted) : null,
  overwrite: (text) => {
    process.stderr.write(text === null ? "\n" : `\r\x1b[K${text}`);
  },
  interrupted,
};

const code = await runCommandLine(process.argv.slice(2), context);
process.exitCode = code === exitCodes.interrupted ? codeOfSignal() : code;
// Everything is stopped by now, except attempts to connect to servers that do not answer.
if (context.interrupted.aborted) setTimeout(() => process.exit(), lingerMs).unref();
