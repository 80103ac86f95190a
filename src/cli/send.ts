import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import type { Command } from "commander";
import { untilMailingEnded } from "../client/follow-jobs.ts";
import { type RecipientFile, type Survey, surveyRecipients } from "../client/read-recipients.ts";
import {
  type Created,
  createMailing,
  type Letter,
  mailingKey,
  readMailing,
  type Started,
  startMailing,
  whyTakenBack,
} from "../client/send-mailing.ts";
import type { Json, Service } from "../client/service.ts";
import type { CommandContext } from "./command-context.ts";
import { CommandFailed, WrongUsage } from "./command-failed.ts";
import { explain } from "./explain.ts";
import { mailings, remedyFor } from "./job-lines.ts";
import { onService } from "./on-service.ts";
import { createProgressLine, toNumber } from "./progress-line.ts";
import {
  addFileOptions,
  addLetterOptions,
  checkId,
  type FileOptions,
  type LetterOptions,
  readFileOptions,
  readLetter,
} from "./read-letter.ts";
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
  if (scheduledAt !== undefined && Number.isNaN(Date.parse(scheduledAt))) {
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

const counted = (count: number, what: string): string => `${toNumber(count)} ${what}${count === 1 ? "" : "s"}`;

async function sendMailing(context: CommandContext, service: Service, sending: Sending): Promise<void> {
  const { letter, settings, file, survey, options } = sending;
  const { scheduledAt = null, test, draft } = options;
  const onWaiting = (reason: string): void => context.tell(`${reason} Retrying.`);
  const whole = { ...letter, ...settings };
  const key = options.id ?? mailingKey(whole, scheduledAt, file, survey);
  // The digest makes another file under the id of this one a conflict.
  const metadata = { mailing: key, file: survey.sha256 };
  const created = await createMailing(service, `mailing-${key}`, { ...whole, metadata }, onWaiting);
  const path = mailings.pathOf(created.id);
  if (test !== undefined) return await sendTest(context, service, created, sending);
  const decided = created.isRepeat && !draft ? await whyTakenBack(service, path, onWaiting) : null;
  if (decided !== null) {
    throw new CommandFailed(`${decided} To start it after all: waybill mailings start ${created.id}`);
  }
  const imported = await uploadRecipients(context, service, created.id, { file, survey });
  const started = draft
    ? await readMailing(service, path, imported?.sequence ?? created.sequence, onWaiting)
    : await startMailing(service, path, { scheduledAt, sequence: created.sequence }, onWaiting);
  await report(context, service, { ...created, isRepeat: imported === null }, started, sending);
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
  context.print(`Test of mailing ${id} to ${counted(answered.body.recipients, "address")}: job ${answered.body.jobId}`);
  context.tell("The mailing itself was not started: run the command without --test to send it.");
}

async function report(
  context: CommandContext,
  service: Service,
  { id, isRepeat }: Pick<Created, "id" | "isRepeat">,
  { mailing, sequence }: Started,
  { survey: { rows }, options: { json, wait } }: Sending,
): Promise<void> {
  const { total: recipients } = mailing.progress;
  const duplicates = Math.max(0, rows - recipients);
  const summary = { mailing: id, recipients, duplicates, isRepeat, status: mailing.status, approval: mailing.approval };
  if (!json) {
    const before = isRepeat ? ", started earlier" : "";
    const words = duplicates === 1 ? "repeats an address and is" : "repeat an address and are";
    const repeated = duplicates === 0 ? "" : `; ${counted(duplicates, "row")} ${words} left out`;
    context.print(`Mailing ${id}: ${counted(recipients, "recipient")}, ${mailing.status}${before}${repeated}.`);
    for (const line of nextSteps(mailing, wait)) context.tell(line);
  }
  if (!wait) return json ? context.print(JSON.stringify(summary)) : undefined;
  const ended = await untilEnded(context, service, id, sequence);
  const { status, progress } = ended;
  if (json) context.print(JSON.stringify({ ...summary, status, progress, approval: ended.approval }));
  else context.print(toSentence(progress));
  if (status === "completed") return;
  if (status !== "draft") throw new CommandFailed(`The mailing is ${status}.${remedyFor(mailings, ended)}`);
  throw new CommandFailed(
    (await whyTakenBack(service, mailings.pathOf(id), () => {})) ?? "The mailing is a draft again.",
  );
}

/** What a person can do next. */
function nextSteps({ id, status, approval, undoUntil }: Json, wait = false): readonly string[] {
  if (status === "draft") return [`Start it: run the command without --draft, or waybill mailings start ${id}`];
  if (status === "awaiting-approval") {
    return [
      "It starts once another key, with the scope jobs:approve, approves it:",
      `  waybill mailings approve ${id} --digest ${approval.digest}`,
    ];
  }
  const undo =
    undoUntil === null ? [] : [`Until ${undoUntil} its start can be taken back: waybill mailings undo ${id}`];
  return wait ? undo : [...undo, `Follow it: waybill mailings watch ${id}`];
}

async function untilEnded(context: CommandContext, service: Service, id: string, sequence: string): Promise<Json> {
  const bar = createProgressLine(context);
  return await untilMailingEnded(
    service,
    mailings.pathOf(id),
    sequence,
    context.interrupted,
    ({ status, progress }) => {
      const { total, pending, deferred } = progress;
      bar.show(total - pending - deferred, total, `recipients done, ${status}`);
    },
  ).finally(bar.end);
}

const toSentence = (progress: Readonly<Record<string, number>>): string =>
  Object.entries(progress)
    .filter(([name, count]) => name === "sent" || (count > 0 && name !== "total"))
    .map(([name, count]) => `${toNumber(count)} ${name}`)
    .join(", ");
