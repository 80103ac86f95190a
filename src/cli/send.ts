import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { Command } from "commander";
import { isTime } from "./client/read-moment.ts";
import { type RecipientFile, type Survey, surveyRecipients } from "./client/read-recipients.ts";
import {
  type Created,
  createMailing,
  type Letter,
  mailingKey,
  readMailing,
  startMailing,
  whyTakenBack,
} from "./client/send-mailing.ts";
import type { Service } from "./client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { mailings } from "./job-lines.ts";
import { onService } from "./on-service.ts";
import { counted } from "./progress-line.ts";
import {
  addFileOptions,
  addLetterOptions,
  checkId,
  type FileOptions,
  type LetterOptions,
  readFileOptions,
  readLetter,
} from "./read-letter.ts";
import { reportMailing } from "./report-mailing.ts";
import { explained, uploadRecipients } from "./upload-recipients.ts";

type SendOptions = LetterOptions &
  FileOptions & {
    readonly scheduledAt?: string;
    /** The id of the mailing. */
    readonly id?: string;
    readonly draft?: boolean;
    readonly test?: string;
    readonly wait?: boolean;
    readonly dryRun?: boolean;
    readonly json?: boolean;
  };

/** `send`. */
export function addSendCommand(program: Command, context: CommandContext): void {
  const command = program.command("send").description("send a mailing to every recipient in a CSV file of any length");
  addFileOptions(addLetterOptions(command))
    .option("--name <text>", "a label for the mailing; by default the name of the CSV file")
    .option("--scheduled-at <time>", "the earliest time to start")
    .option("--id <text>", "an id for the mailing; a mailing with the same id is not sent again")
    .option("--draft", "add the recipients, and start nothing")
    .option(
      "--test <addresses>",
      "mail the letter only to these addresses of yours, with the variables of the first row",
    )
    .option("--wait", "wait until the mailing has ended")
    .option("--dry-run", "show the first mail as it would be sent, and send nothing")
    .option("--json", "as JSON")
    .action((options: SendOptions) => send(context, options));
  explain(command, {
    examples: [
      'waybill send --subject "News for {{ name }}" --html news.html --csv readers.csv --dry-run',
      'waybill send --subject "News for {{ name }}" --html news.html --csv readers.csv --test me@example.com',
      'waybill send --subject "News for {{ name }}" --html news.html --csv readers.csv --wait',
      "waybill send --template welcome@3 --csv readers.csv --undo-for 600",
      "waybill send --subject Reminder --text reminder.txt --csv readers.csv --id second-reminder --json",
    ],
    asks: "service",
    exits: [
      "started, or awaiting approval; with --wait: the mailing completed",
      "it was not started; with --wait: or did not complete",
    ],
    notes: `If the command is interrupted, run it again: it continues where it stopped and mails nobody twice. A changed letter or
file, even by one row, is a new mailing to every recipient in it; with the same --id it is refused instead. To send the
same mailing again on purpose, give it a new id: --id second-reminder. A template without a version means the latest one
when the mailing was created. An address that occurs in several rows is mailed once, with the first of them.`,
  });
}

type Sending = {
  readonly letter: Letter;
  readonly settings: Letter;
  readonly file: RecipientFile;
  readonly survey: Survey;
  readonly options: SendOptions;
};

async function send(context: CommandContext, options: SendOptions): Promise<void> {
  const { name = basename(options.csv), wait, draft, test, scheduledAt } = options;
  if (wait && (draft || test !== undefined)) throw new WrongUsage("--wait is for a mailing that is started");
  if (scheduledAt !== undefined && !isTime(scheduledAt)) {
    throw new WrongUsage(
      `--scheduled-at is ${JSON.stringify(scheduledAt)}; expected a time such as 2030-01-31T09:30:00Z`,
    );
  }
  checkId(options.id);
  const read = await readLetter({ ...options, name });
  const file = await readFileOptions(options);
  const survey = await explained(surveyRecipients(file));
  const sending = { ...read, file, survey, options };
  await onService(context, (service) =>
    options.dryRun ? showFirst(context, service, sending) : explained(sendMailing(context, service, sending)),
  );
}

async function showFirst(
  { print, tell }: CommandContext,
  service: Service,
  { letter, survey: { rows, first }, options: { json, scheduledAt } }: Sending,
): Promise<void> {
  const time = scheduledAt === undefined ? {} : { scheduledAt };
  const request = { ...letter, ...time, recipients: [first], dryRun: true };
  const { body } = await service.ask("/api/jobs", { method: "POST", body: request });
  if (json) return print(JSON.stringify({ rows, mail: body.mail, warnings: body.warnings }));
  print(body.mail.raw);
  for (const { message } of body.warnings) tell(message);
  tell(`This is the mail of the first of ${counted(rows, "row")}. Nothing was sent.`);
}

async function sendMailing(context: CommandContext, service: Service, sending: Sending): Promise<void> {
  const { letter, settings, file, survey, options } = sending;
  const { scheduledAt = null, test, draft, wait = false, json = false } = options;
  const onWaiting = (reason: string): void => context.tell(`${reason} Retrying.`);
  const whole = { ...letter, ...settings };
  const key = options.id ?? mailingKey(whole, scheduledAt, file, survey);
  // The digest makes another file under the id of this one a conflict.
  const metadata = { mailing: key, file: survey.sha256 };
  const created = await createMailing(service, `mailing-${key}`, { ...whole, metadata }, onWaiting);
  const { sequence } = created;
  const path = mailings.pathOf(created.id);
  if (test !== undefined) return await sendTest(context, service, created, sending);
  const expectStanding = async (): Promise<void> => {
    const decided = await whyTakenBack(service, path, onWaiting);
    if (decided === null) return;
    throw new CommandFailed(`${decided} To start it after all: waybill mailings start ${created.id}`);
  };
  if (created.isRepeat && !draft) await expectStanding();
  const imported = await uploadRecipients(context, service, created.id, { file, survey });
  const started = draft
    ? await readMailing(service, path, imported?.sequence ?? sequence, onWaiting)
    : await startMailing(service, path, { scheduledAt, sequence, beforeAgain: expectStanding }, onWaiting);
  await reportMailing(context, service, { ...created, isRepeat: imported === null }, started, {
    rows: survey.rows,
    wait,
    json,
  });
}

async function sendTest(
  context: CommandContext,
  service: Service,
  { id }: Created,
  { survey: { first }, options: { test = "", json } }: Sending,
): Promise<void> {
  const { name, variables } = first;
  const filledIn = { ...(name === undefined ? {} : { name }), ...variables };
  const body = { to: test.split(",").map((one) => one.trim()), variables: filledIn };
  // Each run of the command sends its mails, but a repeated request does not.
  const asked = { method: "POST", body, headers: { "Idempotency-Key": randomUUID() } } as const;
  const onWaiting = (reason: string): void => context.tell(`${reason} Retrying.`);
  const answered = await service.askPatiently(mailings.pathOf(id, "/test"), asked, onWaiting);
  if (json) return context.print(JSON.stringify(answered.body));
  context.print(
    `Test of mailing ${id} to ${counted(answered.body.recipients, "recipient")}: job ${answered.body.jobId}`,
  );
  context.tell("The mailing itself was not started: run the command without --test to send it.");
}
