import type { Command } from "commander";
import { toTotals, untilAllEnded } from "../client/follow-jobs.ts";
import { distinctRecipients, type RecipientFile, surveyRecipients, UnusableFile } from "../client/read-recipients.ts";
import { type Accepted, type Letter, MailingChanged, mailingId, sendMailing } from "../client/send-mailing.ts";
import type { Service } from "../client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { remedyFor } from "./job-lines.ts";
import { onService } from "./on-service.ts";
import { createProgressLine, toNumber } from "./progress-line.ts";
import { type FileOptions, type LetterOptions, readFileOptions, readLetter } from "./read-letter.ts";

type SendOptions = LetterOptions &
  FileOptions & {
    readonly wait?: boolean;
    readonly dryRun?: boolean;
    readonly json?: boolean;
  };

/** `send`. */
export function addSendCommand(program: Command, context: CommandContext): void {
  const command = program
    .command("send")
    .description("send a mailing to every recipient in a CSV file, in jobs of at most 1000 recipients")
    .requiredOption("--subject <text>", "the subject, which may be a template, like the files")
    .option("--html <file>", "the HTML of the mail")
    .option("--text <file>", "the plain text of the mail, with --html or without")
    .requiredOption(
      "--csv <file>",
      "one row for each recipient; the first line names the columns, which become variables",
    )
    .option("--email-column <name>", "the column with the addresses", "email")
    .option("--delimiter <character>", "the character between columns", ",")
    .option("--from <mailbox>", "the sender")
    .option("--reply-to <mailbox>", "the address for replies")
    .option("--name <text>", "a label for the jobs; by default the name of the CSV file")
    .option("--priority <priority>", "high, normal or low")
    .option("--scheduled-at <time>", "the earliest time to start")
    .option("--id <text>", "an id for the mailing; a mailing with the same id is not sent again")
    .option("--wait", "wait until every job has ended")
    .option("--dry-run", "show the first mail as it would be sent, and send nothing")
    .option("--json", "as JSON")
    .action((options: SendOptions) => send(context, options));
  explain(command, {
    examples: [
      'waybill send --subject "News for {{ name }}" --html news.html --csv readers.csv --dry-run',
      'waybill send --subject "News for {{ name }}" --html news.html --csv readers.csv --wait',
      "waybill send --subject Reminder --text reminder.txt --csv readers.csv --id second-reminder --json",
    ],
    asks: "service",
    exits: ["accepted; with --wait: every job completed", "not everything was accepted; with --wait: or completed"],
    notes: `If the command is interrupted, run it again: it continues where it stopped and mails nobody twice. A changed letter or
file, even by one row, is a new mailing to every recipient in it; with the same --id it is refused instead. To send the
same mailing again on purpose, give it a new id: --id second-reminder.`,
  });
}

async function send(context: CommandContext, options: SendOptions): Promise<void> {
  const letter = await readLetter(options);
  const file = await readFileOptions(options);
  try {
    if (options.dryRun) await onService(context, (service) => showFirst(context, service, letter, file, options));
    else await onService(context, (service) => sendAll(context, service, letter, file, options));
  } catch (failure) {
    const isExplained = failure instanceof UnusableFile || failure instanceof MailingChanged;
    throw isExplained ? new CommandFailed(failure.message) : failure;
  }
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
  tell(`This is the first of ${counted(recipients, "mail")}${ofDuplicates(duplicates)}. Nothing was sent.`);
}

const counted = (count: number, what: string): string => `${toNumber(count)} ${what}${count === 1 ? "" : "s"}`;

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
    progress.interrupt(`${reason} Retrying.`);
  };
  try {
    for await (const one of sendMailing(service, { id, letter, file }, onWaiting)) {
      accepted.push(one);
      done += one.recipients;
      progress.show(done, recipients, "recipients accepted");
    }
  } catch (failure) {
    if (!context.interrupted.aborted) throw failure;
    const left = `${toNumber(done)} of ${counted(recipients, "recipient")} accepted`;
    throw new CommandFailed(`Interrupted: ${left}. Run the same command again to continue.`);
  } finally {
    progress.end();
  }
  const jobs = accepted.map(({ jobId }) => jobId);
  const repeated = accepted.filter(({ isRepeat }) => isRepeat).length;
  const summary = { mailing: id, recipients, duplicates, jobs, repeated };
  if (!options.json) {
    const before = repeated === 0 ? "" : `, ${repeated === jobs.length ? "all" : toNumber(repeated)} accepted earlier`;
    const parts = `${counted(recipients, "recipient")} in ${counted(jobs.length, "job")}`;
    print(`Mailing ${id}: ${parts}${before}${ofDuplicates(duplicates)}.`);
    for (const job of jobs) print(`  ${job}`);
    if (!options.wait && jobs.length === 1) tell(`Follow it: waybill jobs watch ${jobs[0]}`);
    else if (!options.wait) tell("Follow them: run the same command with --wait; it sends nothing again.");
  }
  const ended = options.wait ? await waitForAll(context, service, jobs, recipients) : null;
  if (options.json) print(JSON.stringify(ended === null ? summary : { ...summary, ...ended }));
  else if (ended !== null) print(toSentence(ended));
  if (ended !== null && ended.statuses["completed"] !== jobs.length) {
    // Cancelled jobs get no advice to retry: they were cancelled on purpose.
    throw new CommandFailed(`Not every job completed.${remedyFor(ended.failed)}`);
  }
}

type Ended = ReturnType<typeof toTotals> & { readonly failed: readonly string[] };

async function waitForAll(
  context: CommandContext,
  service: Service,
  jobs: readonly string[],
  recipients: number,
): Promise<Ended> {
  const progress = createProgressLine(context);
  const ended = await untilAllEnded(service, jobs, context.interrupted, ({ done }) => {
    progress.show(done, recipients, "recipients done");
  }).finally(progress.end);
  const failed = ended.filter(({ status }) => status === "failed").map(({ id }) => id);
  return { ...toTotals(ended), failed };
}

const toSentence = ({ progress }: Ended): string =>
  Object.entries(progress)
    .filter(([name, count]) => name === "sent" || (count > 0 && name !== "total"))
    .map(([name, count]) => `${toNumber(count)} ${name}`)
    .join(", ");
