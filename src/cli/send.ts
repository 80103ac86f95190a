import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import type { Command } from "commander";
import { distinctRecipients, type RecipientFile, surveyRecipients, UnusableFile } from "../client/read-recipients.ts";
import { type Accepted, type Letter, MailingChanged, mailingId, sendMailing } from "../client/send-mailing.ts";
import type { Service } from "../client/service.ts";
import { toTotals, untilAllEnded } from "../client/until-ended.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { onService } from "./on-service.ts";
import { createProgressLine, toNumber } from "./progress-line.ts";
import { WrongUsage } from "./wrong-usage.ts";

type SendOptions = {
  readonly subject: string;
  readonly html?: string;
  readonly text?: string;
  readonly csv: string;
  readonly emailColumn: string;
  readonly delimiter: string;
  readonly from?: string;
  readonly replyTo?: string;
  readonly name?: string;
  readonly priority?: string;
  readonly scheduledAt?: string;
  readonly id?: string;
  readonly wait?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
};

const examples = `
Examples:
  waybill send --subject "News for {{ name }}" --html news.html --csv readers.csv --dry-run
  waybill send --subject "News for {{ name }}" --html news.html --csv readers.csv --wait

Stopped in the middle, the same command again goes on where it stopped and mails nobody twice. To send the same
mailing to the same file once more on purpose, name it: --id second-reminder.`;

/** `send`. */
export function addSendCommand(program: Command, context: CommandContext): void {
  program
    .command("send")
    .description("send a mailing to everybody in a CSV file, in jobs of at most 1000 recipients")
    .requiredOption("--subject <text>", "the subject; may be a template, as the files may")
    .option("--html <file>", "the HTML of the mail")
    .option("--text <file>", "its text: beside --html, or alone")
    .requiredOption("--csv <file>", "a row for each recipient; the first line names the columns, each a variable")
    .option("--email-column <name>", "the column with the addresses", "email")
    .option("--delimiter <character>", "what stands between two columns", ",")
    .option("--from <mailbox>", "the sender")
    .option("--reply-to <mailbox>", "where answers go")
    .option("--name <text>", "a label for the jobs; the name of the CSV file without one")
    .option("--priority <priority>", "high, normal or low")
    .option("--scheduled-at <time>", "start no earlier than")
    .option("--id <text>", "names the mailing; what was sent under a name is not sent again")
    .option("--wait", "stay until every job has ended; exit 1 where one failed")
    .option("--dry-run", "show the first mail as it would be sent, and send nothing")
    .option("--json", "as JSON")
    .addHelpText("after", examples)
    .action((options: SendOptions) => send(context, options));
}

async function send(context: CommandContext, options: SendOptions): Promise<void> {
  const letter = await readLetter(options);
  const file = readFileOptions(options);
  try {
    if (options.dryRun) await onService(context, (service) => showFirst(context, service, letter, file, options));
    else await onService(context, (service) => sendAll(context, service, letter, file, options));
  } catch (failure) {
    const isExplained = failure instanceof UnusableFile || failure instanceof MailingChanged;
    throw isExplained ? new CommandFailed(failure.message) : failure;
  }
}

async function readLetter({ subject, html, text, csv, from, replyTo, ...options }: SendOptions): Promise<Letter> {
  const main = html ?? text;
  if (main === undefined) throw new WrongUsage("--html or --text is missing: expected a file with the mail");
  const body = await readText(main);
  const second = html !== undefined && text !== undefined ? { text: await readText(text) } : {};
  const { name = basename(csv), priority, scheduledAt } = options;
  return {
    subject,
    body,
    name,
    ...second,
    ...(from === undefined ? {} : { from }),
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(priority === undefined ? {} : { priority }),
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
  };
}

const readText = (path: string): Promise<string> =>
  readFile(path, "utf8").catch((failure: NodeJS.ErrnoException) => {
    throw new WrongUsage(`${path} cannot be read: ${failure.message}`);
  });

function readFileOptions({ csv, emailColumn, delimiter, id }: SendOptions): RecipientFile {
  const separator = delimiter === "\\t" ? "\t" : delimiter;
  if (separator.length !== 1) {
    throw new WrongUsage(`--delimiter is ${JSON.stringify(delimiter)}; expected one character, or \\t`);
  }
  if (id !== undefined && !/^[\x21-\x7e]{1,100}$/.test(id)) {
    throw new WrongUsage(`--id is ${JSON.stringify(id)}; expected 1 to 100 visible characters without spaces`);
  }
  return { path: csv, emailColumn, delimiter: separator };
}

async function showFirst(
  { print, tell }: CommandContext,
  service: Service,
  letter: Letter,
  file: RecipientFile,
  { json }: SendOptions,
): Promise<void> {
  const { recipients, duplicates } = await surveyRecipients(file);
  const { value: first } = await distinctRecipients(file).next();
  const request = { ...letter, recipients: [first], dryRun: true };
  const { body } = await service.ask("/api/jobs", { method: "POST", body: request });
  if (json) return print(JSON.stringify({ recipients, duplicates, mail: body.mail, warnings: body.warnings }));
  print(body.mail.raw);
  for (const { message } of body.warnings) tell(message);
  tell(`This is the first of ${toNumber(recipients)} mails${ofDuplicates(duplicates)}. Nothing was sent.`);
}

const ofDuplicates = (duplicates: number): string =>
  duplicates === 0 ? "" : `; ${toNumber(duplicates)} rows repeat an address and are left out`;

async function sendAll(
  context: CommandContext,
  service: Service,
  letter: Letter,
  file: RecipientFile,
  options: SendOptions,
): Promise<void> {
  const { print, tell } = context;
  const { recipients, duplicates } = await surveyRecipients(file);
  const id = options.id ?? (await mailingId(letter, file));
  const progress = createProgressLine(context);
  const accepted: Accepted[] = [];
  let done = 0;
  const onWaiting = (reason: string): void => {
    progress.end();
    tell(`${reason} Trying again.`);
  };
  for await (const one of sendMailing(service, { id, letter, file }, onWaiting)) {
    accepted.push(one);
    done += one.recipients;
    progress.show(done, recipients, "recipients accepted");
  }
  progress.end();
  const jobs = accepted.map(({ jobId }) => jobId);
  const repeated = accepted.filter(({ isRepeat }) => isRepeat).length;
  const summary = { mailing: id, recipients, duplicates, jobs, repeated };
  if (!options.json) {
    const before = repeated === 0 ? "" : `, ${toNumber(repeated)} of them accepted before`;
    print(
      `Mailing ${id}: ${toNumber(recipients)} recipients in ${toNumber(jobs.length)} jobs${before}${ofDuplicates(duplicates)}.`,
    );
  }
  const ended = options.wait ? await waitForAll(context, service, jobs, recipients) : null;
  if (options.json) print(JSON.stringify(ended === null ? summary : { ...summary, ...ended }));
  else if (ended !== null) print(toSentence(ended));
  if (ended !== null && ended.statuses["completed"] !== jobs.length) {
    throw new CommandFailed("Not every job completed: waybill jobs list --status failed,cancelled");
  }
}

type Ended = ReturnType<typeof toTotals>;

async function waitForAll(
  context: CommandContext,
  service: Service,
  jobs: readonly string[],
  recipients: number,
): Promise<Ended> {
  const progress = createProgressLine(context);
  const ended = await untilAllEnded(service, jobs, context.interrupted, ({ done }) => {
    progress.show(done, recipients, "recipients done");
  });
  progress.end();
  return toTotals(ended);
}

const toSentence = ({ progress }: Ended): string =>
  Object.entries(progress)
    .filter(([name, count]) => name === "sent" || (count > 0 && name !== "total"))
    .map(([name, count]) => `${toNumber(count)} ${name}`)
    .join(", ");
