import type { Command } from "commander";
import { printable } from "../process/terminal-line.ts";
import type { Json } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { onService } from "./on-service.ts";
import { parsedVariables, readText } from "./read-letter.ts";
import { printTable } from "./table.ts";

type JsonOption = { readonly json?: boolean };
type PutOptions = JsonOption & {
  readonly subject: string;
  readonly html?: string;
  readonly text?: string;
  readonly from?: string;
};
type PreviewOptions = JsonOption & { readonly variables: string; readonly templateVersion?: string };

/** `templates list|show|put|preview`. */
export function addTemplateCommands(program: Command, context: CommandContext): void {
  const templates = program.command("templates").description("letters with names and versions, which jobs may name");
  const list = templates
    .command("list")
    .description("list the templates that are not archived")
    .option("--json", "as JSON")
    .action((options: JsonOption) => listTemplates(context, options));
  explain(list, { examples: ["waybill templates list"], asks: "service" });
  const ofTemplate = (name: string, description: string): Command =>
    templates.command(name).description(description).argument("<name>", "name of the template");
  const show = ofTemplate("show", "show the latest letter of a template, and its versions")
    .option("--json", "as JSON")
    .action((name: string, options: JsonOption) => showTemplate(context, name, options));
  explain(show, { examples: ["waybill templates show welcome"], asks: "service" });
  const put = ofTemplate("put", "store a letter as the next version of a template")
    .requiredOption("--subject <text>", "the subject; variables as in {{ name }}")
    .option("--html <file>", "the letter as HTML")
    .option("--text <file>", "the letter as plain text, or beside --html its text part")
    .option("--from <mailbox>", "the sender")
    .option("--json", "as JSON")
    .action((name: string, options: PutOptions) => putTemplate(context, name, options));
  explain(put, {
    examples: ['waybill templates put welcome --subject "Welcome, {{ name }}" --html welcome.html'],
    asks: "service",
    notes: "A letter that the template has already keeps its version, so the command can be repeated.",
  });
  const preview = ofTemplate("preview", "fill in a template with sample variables; nothing is sent")
    .option("--variables <json>", "the variables as a JSON object", "{}")
    .option("--template-version <n>", "this version; without it, the latest")
    .option("--json", "as JSON")
    .action((name: string, options: PreviewOptions) => previewTemplate(context, name, options));
  explain(preview, {
    examples: [`waybill templates preview welcome --variables '{"name":"Ada"}'`],
    asks: "service",
  });
}

const pathOf = (name: string, rest = ""): string => `/api/templates/${encodeURIComponent(name)}${rest}`;

async function listTemplates(context: CommandContext, { json }: JsonOption): Promise<void> {
  const found = await onService(context, async (service) => {
    const all: Json[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await service.ask(`/api/templates?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`);
      all.push(...body.data);
      cursor = body.nextCursor;
    }
    return all;
  });
  if (json) return context.print(JSON.stringify(found));
  if (found.length === 0) return context.tell("There are no templates.");
  printTable(context, ["name", "latest", "updatedAt"], found);
}

async function showTemplate(context: CommandContext, name: string, { json }: JsonOption): Promise<void> {
  const { body } = await onService(context, (service) => service.ask(pathOf(name)));
  if (json) return context.print(JSON.stringify(body));
  const archived = body.archivedAt === null ? "" : `, archived at ${body.archivedAt}`;
  context.print(`${body.name}@${body.latest}${archived}`);
  for (const [field, value] of Object.entries(body.letter)) {
    context.print(`  ${field.padEnd(11)} ${printable(typeof value === "string" ? value : JSON.stringify(value))}`);
  }
  printTable(context, ["version", "createdAt", "sha256"], body.versions);
}

async function putTemplate(context: CommandContext, name: string, options: PutOptions): Promise<void> {
  const { subject, html, text, from, json } = options;
  const main = html ?? text;
  if (main === undefined) throw new WrongUsage("--html or --text is missing: expected a file with the letter");
  const letter = {
    subject,
    body: await readText(main),
    ...(html !== undefined && text !== undefined ? { text: await readText(text) } : {}),
    ...(from === undefined ? {} : { from }),
  };
  const { status, body } = await onService(context, (service) =>
    service.ask(pathOf(name), { method: "PUT", body: letter }),
  );
  if (json) return context.print(JSON.stringify(body));
  context.print(`${body.name}@${body.version}${status === 201 ? "" : ", stored before"}`);
}

async function previewTemplate(context: CommandContext, name: string, options: PreviewOptions): Promise<void> {
  const { templateVersion } = options;
  const version = templateVersion === undefined ? {} : { version: Number(templateVersion) };
  const request = { variables: parsedVariables(options.variables), ...version };
  const { body } = await onService(context, (service) =>
    service.ask(pathOf(name, "/preview"), { method: "POST", body: request }),
  );
  if (options.json) return context.print(JSON.stringify(body));
  context.print(`Subject: ${printable(body.subject)}`);
  context.print("");
  context.print(body.text ?? body.html);
  for (const { message } of body.warnings) context.tell(message);
}
