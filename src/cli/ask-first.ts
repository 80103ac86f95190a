import { createInterface } from "node:readline";
import type { Command } from "commander";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";

export type YesOption = { readonly yes?: boolean | undefined };

/** To act on more than this many at once, the person must type their number, as in the dashboard. */
const mostUntyped = 20;

/** Adds the option that skips the confirmation. */
export const addYes = (command: Command): Command =>
  command.option("--yes", "do it without asking; without a terminal a command never asks");

/**
 * Asks for confirmation on a terminal before a command does something that cannot be undone. An empty line, or the end of
 * the input, means no. A script is never asked, so that it never waits. Throws CommandFailed if the answer is no.
 */
export async function askFirst(
  { ask }: CommandContext,
  question: string,
  { yes, count = 1 }: YesOption & { readonly count?: number },
): Promise<void> {
  if (yes === true || ask === null) return;
  const wanted = count > mostUntyped ? String(count) : "yes";
  const answer = await ask(`${question} Type ${wanted} to do it: `);
  if (answer.trim().toLowerCase() !== wanted) throw new CommandFailed("Nothing was done.");
}

type Terminal = { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream };

/** One line from a person; empty if the input ends or the command is interrupted first. */
export const askOnTerminal = (terminal: Terminal, question: string, interrupted: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    // The terminal itself edits the line, and turns Ctrl-C into a signal, which interrupts the command.
    const lines = createInterface({ ...terminal, terminal: false, signal: interrupted });
    lines.once("close", () => resolve(""));
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
