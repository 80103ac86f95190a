import type { Command } from "commander";
import { printable } from "../process/terminal-line.ts";
import { watchJob } from "./client/follow-jobs.ts";
import type { Json } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { type Kind, remedyFor } from "./job-lines.ts";
import { onService } from "./on-service.ts";
import { createProgressLine } from "./progress-line.ts";

type JsonOption = { readonly json?: boolean };

/** `explain|watch` of a job or a mailing. */
export function addProgress(group: Command, context: CommandContext, kind: Kind): void {
  const { one, many } = kind;
  const id = `id of the ${one}, as ${many} list shows it`;
  const explaining = group
    .command("explain")
    .description(`say why a ${one} is where it is, and what it waits for`)
    .argument("<id>", id)
    .option("--json", "as JSON")
    .action((id: string, options: JsonOption) => explainOne(context, kind, id, options));
  explain(explaining, {
    examples: [`waybill ${many} explain <id>`, `waybill ${many} explain <id> --json`],
    asks: "service",
  });
  const watching = group
    .command("watch")
    .description(`follow a ${one} until it has ended`)
    .argument("<id>", id)
    .option("--json", "one line of JSON for each change")
    .action((id: string, options: JsonOption) => watch(context, kind, id, options));
  explain(watching, {
    examples: [`waybill ${many} watch <id>`, `waybill ${many} watch <id> --json`],
    asks: "service",
    exits: [`the ${one} completed`, "it failed, was cancelled, or could not be watched"],
  });
}

async function explainOne(context: CommandContext, { pathOf }: Kind, id: string, { json }: JsonOption): Promise<void> {
  const { body } = await onService(context, (service) => service.ask(pathOf(id, "/explain")));
  if (json) return context.print(JSON.stringify(body));
  for (const { code, message, since, until, changedBy } of body.reasons) {
    context.print(printable(`${code}: ${message}`));
    const more = { since, until, "changed by": changedBy };
    for (const [name, value] of Object.entries(more)) {
      if (value !== null) context.print(`  ${name.padEnd(13)} ${printable(value)}`);
    }
  }
  if (body.notKnown.length > 0) context.tell(`Not known now: ${body.notKnown.join(", ")}`);
}

async function watch(context: CommandContext, kind: Kind, id: string, { json }: JsonOption): Promise<void> {
  const progress = createProgressLine(context);
  const onChange = (now: Json): void => {
    const { total, pending, deferred } = now.progress;
    if (json) context.print(JSON.stringify(now));
    else progress.show(total - pending - deferred, total, `recipients done, ${now.status}`);
  };
  const onWaiting = (reason: string): void => progress.interrupt(`${reason} Retrying.`);
  const last = await onService(context, (service) =>
    watchJob(service, kind.pathOf(id), onChange, onWaiting, context.interrupted),
  ).finally(progress.end);
  if (!json) kind.print(context, last, false);
  if (last.status === "completed") return;
  throw new CommandFailed(`The ${kind.one} is ${last.status}.${remedyFor(kind, last)}`);
}
