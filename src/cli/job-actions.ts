import type { Command } from "commander";
import { actOnFilter, addFilter, type BulkOptions, type FilterOptions, filterInstead } from "./act-on-filter.ts";
import { addYes, askFirst } from "./ask-first.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { explain } from "./explain.ts";
import type { Kind } from "./job-lines.ts";
import { onService } from "./on-service.ts";
import { serviceAddress } from "./service-address.ts";

type Options = BulkOptions & { readonly reason?: string; readonly scope?: string };

export type Action = {
  readonly name: string;
  readonly description: string;
  /** DELETE means the job itself; POST, where nothing else is said, the path with the name of the action. */
  readonly method?: "POST" | "DELETE";
  /** Cannot be undone: of several a person is asked first. Who types a single id means it. */
  readonly isFinal?: boolean;
  /** Adds the option that the action has instead of a reason; an example shows it. */
  readonly add?: (command: Command) => Command;
  readonly example?: string;
  /** What may stand in for ids. */
  readonly filter?: FilterOptions;
  readonly filterExample?: string;
};

const addReason = (command: Command): Command =>
  command.option("--reason <text>", "recorded in the history, together with the caller");

/** A command for each action, on one job or mailing or on several. */
export function addActions(group: Command, context: CommandContext, kind: Kind, actions: readonly Action[]): void {
  const { one, many } = kind;
  for (const action of actions) {
    const { name, description, add = addReason, example = '--reason "they asked for it"', filter } = action;
    const command = group
      .command(name)
      .description(description)
      .argument(filter === undefined ? "<id...>" : "[id...]", `ids of one or more ${many}, as ${many} list shows them`);
    add(command);
    if (name === "retry") {
      command.option(
        "--scope <scope>",
        "failed: all recipients not reached; unsent: of those, the ones not refused for good; unknown: those in doubt",
        "failed",
      );
    }
    if (filter !== undefined) addFilter(command, filter);
    command
      .option("--json", `one line of JSON for each ${one}`)
      .action((ids: string[], options: Options) => actOn(context, kind, action, ids, options));
    const several = name === "retry" ? [`waybill ${many} ${name} <id> <id> <id> --scope unsent`] : [];
    const isNeeded = command.options.some(({ mandatory }) => mandatory);
    const short = isNeeded ? [] : [`waybill ${many} ${name} <id>`];
    const filtered = action.filterExample === undefined ? [] : [`waybill ${many} ${name} ${action.filterExample}`];
    if (action.isFinal || filter !== undefined) addYes(command);
    explain(command, {
      examples: [...short, `waybill ${many} ${name} <id> ${example}`, ...several, ...filtered],
      asks: "service",
      exits: ["done", `failed for at least one ${one}`],
    });
  }
}

/** One that cannot be changed does not stop the command from changing the others. */
async function actOn(
  context: CommandContext,
  { many, pathOf, print }: Kind,
  { name, method = "POST", isFinal = false, filter }: Action,
  ids: readonly string[],
  options: Options,
): Promise<void> {
  const found = filter === undefined ? null : filterInstead(ids, filter, options);
  if (filter !== undefined && found !== null) {
    const { reason, scope } = options;
    return await actOnFilter(context, filter, { action: name, filter: found, reason, scope }, options);
  }
  const { json, yes, ...body } = options;
  if (isFinal && ids.length > 1) {
    const where = serviceAddress(context).url;
    await askFirst(context, `${name} ${ids.length} ${many} of ${where}?`, { yes, count: ids.length });
  }
  const refused: string[] = [];
  for (const id of ids) {
    const path = method === "DELETE" ? pathOf(id) : pathOf(id, `/${name}`);
    try {
      const answered = await onService(context, (service) => service.ask(path, { method, body }));
      print(context, answered.body, json);
    } catch (failure) {
      if (!(failure instanceof CommandFailed) || context.interrupted.aborted) throw failure;
      refused.push(ids.length === 1 ? failure.message : `${id}: ${failure.message}`);
    }
  }
  if (refused.length > 0) throw new CommandFailed(refused.join("\n"));
}
