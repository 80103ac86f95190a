import { CommanderError } from "commander";
import { CannotStart } from "../process/lifecycle.ts";
import { InvalidConfig } from "../settings/config.ts";
import type { ProcessContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { createProgram, serviceOptionsFirst } from "./program.ts";

/** `interrupted` is what shells know of a program that Ctrl-C ended: 128 and the number of the signal. */
export const exitCodes = { done: 0, failed: 1, wrongUsage: 2, interrupted: 130 } as const;

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Runs the command in the arguments and returns the exit code. Prints the reason of a failure on standard error; never throws. */
export async function runCommandLine(args: readonly string[], context: ProcessContext): Promise<ExitCode> {
  try {
    const words = withHelpBehind(args);
    const program = await createProgram(context, words);
    await program.parseAsync(serviceOptionsFirst(program, words), { from: "user" });
    return exitCodes.done;
  } catch (failure) {
    return report(failure, context);
  }
}

function report(failure: unknown, context: ProcessContext): ExitCode {
  // Commander has printed its own message, and help is not a failure.
  if (failure instanceof CommanderError) return failure.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
  if (failure instanceof InvalidConfig || failure instanceof WrongUsage) {
    context.tell(failure.message);
    return exitCodes.wrongUsage;
  }
  const isExplained = failure instanceof CannotStart || failure instanceof CommandFailed;
  context.tell(isExplained ? failure.message : describe(failure, context));
  return context.interrupted.aborted ? exitCodes.interrupted : exitCodes.failed;
}

/** `help jobs retry` is `jobs retry --help`: the program's own help command would know the first word only. */
const withHelpBehind = ([first, ...others]: readonly string[]): readonly string[] =>
  first === "help" ? [...others, "--help"] : first === undefined ? [] : [first, ...others];

/** Describes an unexpected failure. The stack trace is shown only with LOG_LEVEL=debug, for developers. */
function describe(failure: unknown, context: ProcessContext): string {
  if (!(failure instanceof Error)) return `Failed: ${String(failure)}`;
  if (isForDevelopers(context)) return failure.stack ?? failure.message;
  // An AggregateError, for a host with several addresses, has no message of its own.
  const { message, code = failure.name }: NodeJS.ErrnoException = failure;
  return `Failed: ${message === "" ? code : message}\nLOG_LEVEL=debug shows where it happened.`;
}

/** Not every command has read the settings, so they may be invalid. */
function isForDevelopers(context: ProcessContext): boolean {
  try {
    return ["debug", "trace"].includes(context.readConfig().logLevel);
  } catch {
    return false;
  }
}
