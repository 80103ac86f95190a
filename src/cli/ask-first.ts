import type { Command } from "commander";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";

export type YesOption = { readonly yes?: boolean | undefined };

/** More than this many at once are typed by who means them, as in the dashboard. */
const mostUntyped = 20;

/** For a command that asks first. */
export const addYes = (command: Command): Command =>
  command.option("--yes", "do it without asking; where nobody sits at a terminal nothing is asked anyway");

/**
 * Asks on a terminal before something is done that cannot be taken back: an Enter alone, or the end of the input, is a
 * no. Scripts name what they mean and are never kept waiting. Throws CommandFailed where the answer is no.
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
