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
  { name: "cancel", method: "DELETE", description: "send nothing more of jobs that have not ended" },
  { name: "pause", method: "POST", description: "hold jobs back" },
  { name: "resume", method: "POST", description: "let paused jobs go on" },
  { name: "retry", method: "POST", description: "run failed jobs again; who was sent a mail is not mailed again" },
];

/** What nobody can take back. Of one job it is done as it was typed: who names it means it. */
const asksFirst: readonly string[] = ["cancel", "retry"];

/** `jobs cancel|pause|resume|retry`, each of one job or of several. */
export function addActions(jobs: Command, context: CommandContext): void {
  for (const action of actions) {
    const { name, description } = action;
    const command = jobs
      .command(name)
      .description(description)
      .argument("<id...>", "of the job, or of several: jobs list shows them")
      .option("--reason <text>", "kept in the history, with who asked");
    if (name === "retry") {
      command.option(
        "--scope <scope>",
        "failed: all that were not reached; unsent: of those, who was not refused for good; unknown: who is in doubt",
        "failed",
      );
    }
    command
      .option("--json", "a line of JSON for each job")
      .action((ids: string[], options: Options) => actOn(context, action, ids, options));
    const several = name === "retry" ? [`waybill jobs ${name} <id> <id> <id> --scope unsent`] : [];
    const examples = [
      `waybill jobs ${name} <id>`,
      `waybill jobs ${name} <id> --reason "they asked for it"`,
      ...several,
    ];
    if (asksFirst.includes(name)) addYes(command);
    explain(command, { examples, asks: "service", exits: ["done", "not done, of one job at least"] });
  }
}

/** One that cannot be acted on does not keep the others from it. */
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
