import { createInterface } from "node:readline";
import type { Command } from "commander";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";

export type YesOption = { readonly yes?: boolean | undefined };

/** To act on more than this many at once, their number must be typed, as in the dashboard. */
const mostUntyped = 20;

/** For a command that asks first. */
export const addYes = (command: Command): Command =>
  command.option("--yes", "do it without asking; without a terminal a command never asks");

/**
 * Asks on a terminal before a command does what cannot be undone: an empty line, or the end of the input, is a no.
 * Scripts name what they act on and are never kept waiting. Throws CommandFailed where the answer is no.
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

/** One line from a person; empty where the input ends, or the command is interrupted, before there is one. */
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
