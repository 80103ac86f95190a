import type { Command } from "commander";
import { surveyRecipients } from "./client/read-recipients.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { type Action, addActions } from "./job-actions.ts";
import { addHistory } from "./job-history.ts";
import { jobs, mailings } from "./job-lines.ts";
import { addListOptions, type ListOptions, list } from "./job-list.ts";
import { addProgress } from "./job-progress.ts";
import { onService } from "./on-service.ts";
import { toNumber } from "./progress-line.ts";
import {
  addFileOptions,
  addLetterOptions,
  checkId,
  type FileOptions,
  type LetterOptions,
  parsedVariables,
  readFileOptions,
  readLetter,
} from "./read-letter.ts";
import { explained, uploadRecipients } from "./upload-recipients.ts";

type JsonOption = { readonly json?: boolean };
type TestOptions = JsonOption & { readonly variables: string };

const actions: readonly Action[] = [
  {
    name: "start",
    description: "start drafts, or ask for their approval; they take no more recipients then",
    add: (command) => command.option("--scheduled-at <time>", "the earliest time to start"),
    example: "--scheduled-at 2030-01-31T09:30:00Z",
  },
  {
    name: "undo",
    description: "take starts back, within the time that --undo-for gave: the mailings are drafts again",
  },
  {
    name: "approve",
    description: "approve what another key has asked to start",
    add: (command) => command.requiredOption("--digest <sha256>", "what you approve, as mailings show says it"),
    example: "--digest <sha256>",
  },
  {
    name: "reject",
    description: "reject what another key has asked to start: the mailings are drafts again",
    add: (command) => command.requiredOption("--reason <text>", "recorded in the history, together with the caller"),
  },
  { name: "pause", description: "pause mailings, with all of their parts, until they are resumed" },
  { name: "resume", description: "resume paused mailings" },
  {
    name: "cancel",
    description: "cancel mailings that have not ended; nothing further is sent",
    isFinal: true,
  },
  {
    name: "retry",
    description: "run the failed parts of mailings again, without the recipients who were already sent their mail",
    isFinal: true,
  },
];

/** `mailings list|show|parts|events|create|import|test`, and what mailings have in common with jobs. */
export function addMailingsCommands(program: Command, context: CommandContext): void {
  const group = program.command("mailings").description("look at mailings and act on them");
  const ofMailing = (name: string, description: string): Command =>
    group.command(name).description(description).argument("<id>", "id of the mailing, as mailings list shows it");
  const listing = group.command("list").description("list mailings, newest first");
  addListOptions(listing, mailings).action((options: ListOptions) => list(context, mailings, {}, options));
  explain(listing, {
    examples: ["waybill mailings list", "waybill mailings list --limit 100 --json"],
    asks: "service",
  });
  const show = ofMailing("show", "show one mailing with its progress over all parts")
    .option("--json", "as JSON")
    .action((id: string, options: JsonOption) => showMailing(context, id, options));
  explain(show, { examples: ["waybill mailings show <id>"], asks: "service" });
  const parts = ofMailing("parts", "list the parts of a mailing that are jobs by now, newest first");
  addListOptions(parts, jobs).action((id: string, options: ListOptions) => listParts(context, id, options));
  explain(parts, {
    examples: ["waybill mailings parts <id>", "waybill mailings parts <id> --limit 1000 --json"],
    asks: "service",
  });
  addProgress(group, context, mailings);
  addHistory(group, context, mailings);
  const events = ofMailing("events", "the mailing's own history as lines of JSON, without that of its parts").action(
    (id: string) => printEvents(context, id),
  );
  explain(events, { examples: ["waybill mailings events <id>"], asks: "service" });
  addMaking(group, context);
  addActions(group, context, mailings, actions);
}

/** `mailings create|import|test`: what `send` does at once, step by step. */
function addMaking(group: Command, context: CommandContext): void {
  const create = addLetterOptions(
    group.command("create").description("create the draft of a mailing, without recipients"),
  )
    .option("--name <text>", "a label for the mailing")
    .option("--id <text>", "an id for the mailing; the same command with the same id creates it once")
    .option("--json", "as JSON")
    .action((options: LetterOptions & JsonOption & { readonly id?: string }) => createDraft(context, options));
  explain(create, {
    examples: [
      'waybill mailings create --subject "News for {{ name }}" --html news.html --name November',
      "waybill mailings create --template welcome --id welcome-november",
    ],
    asks: "service",
    notes: "Prints the id. waybill send does this, imports a file, and starts the mailing.",
  });
  const importing = addFileOptions(
    group
      .command("import")
      .description("add the recipients in a CSV file to a draft")
      .argument("<id>", "id of the mailing, as mailings list shows it"),
  )
    .option("--json", "as JSON")
    .action((id: string, options: FileOptions & JsonOption) => importFile(context, id, options));
  explain(importing, {
    examples: ["waybill mailings import <id> --csv readers.csv"],
    asks: "service",
    notes: "An address is in a mailing once, so the command can be repeated, also with a corrected file.",
  });
  const test = group
    .command("test")
    .description("mail the letter of a mailing that has not started to some addresses of your own")
    .argument("<id>", "id of the mailing, as mailings list shows it")
    .argument("<address...>", "up to five addresses")
    .option("--variables <json>", "the variables as a JSON object", "{}")
    .option("--json", "as JSON")
    .action((id: string, to: string[], options: TestOptions) => sendTest(context, id, to, options));
  explain(test, {
    examples: [`waybill mailings test <id> me@example.com --variables {}`],
    asks: "service",
  });
}

async function showMailing(context: CommandContext, id: string, { json }: JsonOption): Promise<void> {
  const { body } = await onService(context, (service) => service.ask(mailings.pathOf(id)));
  mailings.print(context, body, json);
}

/** A list of jobs does not say that there is no such mailing. */
async function listParts(context: CommandContext, id: string, options: ListOptions): Promise<void> {
  await onService(context, (service) => service.ask(mailings.pathOf(id)));
  await list(context, jobs, { mailing: id }, options);
}

async function printEvents(context: CommandContext, id: string): Promise<void> {
  const { body } = await onService(context, (service) => service.ask(mailings.pathOf(id, "/events")));
  for (const event of body) context.print(JSON.stringify(event));
}

async function createDraft(
  context: CommandContext,
  { id, json, ...options }: LetterOptions & JsonOption & { readonly id?: string },
): Promise<void> {
  const { letter, settings } = await readLetter(options);
  const key = checkId(id);
  const headers: Record<string, string> = key === undefined ? {} : { "Idempotency-Key": `mailings-create-${key}` };
  const asked = { method: "POST", body: { ...letter, ...settings }, headers } as const;
  const { body } = await onService(context, (service) => service.ask("/api/mailings", asked));
  context.print(json ? JSON.stringify(body) : body.mailingId);
}

async function importFile(context: CommandContext, id: string, options: FileOptions & JsonOption): Promise<void> {
  const file = await readFileOptions(options);
  const survey = await explained(surveyRecipients(file));
  const imported = await onService(context, async (service) => {
    // The upload waits for a service that is away; a command that has come to none says so at once.
    await service.ask(mailings.pathOf(id));
    return await explained(uploadRecipients(context, service, id, { file, survey }));
  });
  if (imported === null) throw new CommandFailed(`Mailing ${id} has been started: it takes no more recipients.`);
  const { added, duplicates } = imported;
  if (options.json) return context.print(JSON.stringify({ mailing: id, added, duplicates }));
  context.print(`${toNumber(added)} recipients added, ${toNumber(duplicates)} were in the mailing or the file before.`);
}

async function sendTest(
  context: CommandContext,
  id: string,
  to: readonly string[],
  { variables, json }: TestOptions,
): Promise<void> {
  const asked = { method: "POST", body: { to, variables: parsedVariables(variables) } } as const;
  const { body } = await onService(context, (service) => service.ask(mailings.pathOf(id, "/test"), asked));
  context.print(json ? JSON.stringify(body) : `${body.jobId}`);
}
