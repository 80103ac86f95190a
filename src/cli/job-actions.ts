import type { Command } from "commander";
import { addYes, askFirst, type YesOption } from "./ask-first.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { pathOf, printJob } from "./job-lines.ts";
import { onService } from "./on-service.ts";

type Options = YesOption & { readonly json?: boolean; readonly reason?: string; readonly scope?: string };

type Action = { readonly name: string; readonly method: "POST" | "DELETE"; readonly description: string };

const actions: readonly Action[] = [
  { name: "cancel", method: "DELETE", description: "cancel jobs that have not ended; nothing further is sent" },
  { name: "pause", method: "POST", description: "pause jobs until they are resumed" },
  { name: "resume", method: "POST", description: "resume paused jobs" },
  {
    name: "retry",
    method: "POST",
    description: "run failed jobs again, without the recipients who were already sent their mail",
  },
];

/** Actions that cannot be undone. For a single job there is no confirmation: a person who types its id means it. */
const asksFirst: readonly string[] = ["cancel", "retry"];

/** `jobs cancel|pause|resume|retry`, each of one job or of several. */
export function addActions(jobs: Command, context: CommandContext): void {
  for (const action of actions) {
    const { name, description } = action;
    const command = jobs
      .command(name)
      .description(description)
      .argument("<id...>", "ids of one or more jobs, as jobs list shows them")
      .option("--reason <text>", "recorded in the history, together with the caller");
    if (name === "retry") {
      command.option(
        "--scope <scope>",
        "failed: all recipients not reached; unsent: of those, the ones not refused for good; unknown: those in doubt",
        "failed",
      );
    }
    command
      .option("--json", "one line of JSON for each job")
      .action((ids: string[], options: Options) => actOn(context, action, ids, options));
    const several = name === "retry" ? [`waybill jobs ${name} <id> <id> <id> --scope unsent`] : [];
    const examples = [
      `waybill jobs ${name} <id>`,
      `waybill jobs ${name} <id> --reason "they asked for it"`,
      ...several,
    ];
    if (asksFirst.includes(name)) addYes(command);
    explain(command, { examples, asks: "service", exits: ["done", "failed for at least one job"] });
  }
}

/** A job that cannot be changed does not stop the command from changing the others. */
async function actOn(
  context: CommandContext,
  { name, method }: Action,
  ids: readonly string[],
  { json, yes, ...body }: Options,
): Promise<void> {
  if (asksFirst.includes(name) && ids.length > 1) {
    const where = context.readConfig().serviceUrl;
    await askFirst(context, `${name} ${ids.length} jobs of ${where}?`, { yes, count: ids.length });
  }
  const refused: string[] = [];
  for (const id of ids) {
    const path = method === "DELETE" ? pathOf(id) : pathOf(id, `/${name}`);
    try {
      const answered = await onService(context, (service) => service.ask(path, { method, body }));
      printJob(context, answered.body, json);
    } catch (failure) {
      if (!(failure instanceof CommandFailed) || context.interrupted.aborted) throw failure;
      refused.push(ids.length === 1 ? failure.message : `${id}: ${failure.message}`);
    }
  }
  if (refused.length > 0) throw new CommandFailed(refused.join("\n"));
}
