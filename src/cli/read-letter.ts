import { access, constants } from "node:fs/promises";
import type { Command } from "commander";
import { weekdays } from "../domain/mailing/window.ts";
import { readTextFile, whyNoFile } from "./client/file-failure.ts";
import type { RecipientFile } from "./client/read-recipients.ts";
import type { Letter } from "./client/send-mailing.ts";
import { WrongUsage } from "./command-failed.ts";

export type LetterOptions = {
  readonly subject?: string;
  readonly html?: string;
  readonly text?: string;
  readonly template?: string;
  readonly from?: string;
  readonly replyTo?: string;
  readonly name?: string;
  readonly priority?: string;
  readonly undoFor?: string;
  readonly approval?: boolean;
  readonly rate?: string;
  readonly rampUp?: string;
  readonly window?: string;
  readonly stopWhen?: string;
};

export type FileOptions = {
  readonly csv: string;
  readonly emailColumn: string;
  readonly delimiter: string;
};

/** The options for the letter of a mailing and its settings, which readLetter reads. */
export const addLetterOptions = (command: Command): Command =>
  command
    .option("--subject <text>", "the subject, which may be a template, like the files")
    .option("--html <file>", "the HTML of the mail")
    .option("--text <file>", "the plain text of the mail, with --html or without")
    .option("--template <name>", "instead of these: a stored letter, its latest version or another, as welcome@3")
    .option("--from <mailbox>", "the sender")
    .option("--reply-to <mailbox>", "the address for replies")
    .option("--priority <priority>", "high, normal or low")
    .option("--undo-for <seconds>", "wait so long before the first mail: until then mailings undo takes the start back")
    .option("--approval", "start only once another key has approved it: see mailings approve")
    .option("--rate <n>", "send to at most so many recipients an hour")
    .option("--ramp-up <steps>", "so many recipients in the first hour, and each hour so many times as many, as 1000x2")
    .option("--window <times>", 'send only at these times, as "mon-fri 08:00-18:00 Europe/Berlin"')
    .option(
      "--stop-when <shares>",
      'pause it once more than these shares went wrong, as "failures 5%, bounces 2%, complaints 0.1% after 500"',
    );

/** The options for the file with recipients, which readFileOptions reads. */
export const addFileOptions = (command: Command): Command =>
  command
    .requiredOption(
      "--csv <file>",
      "one row for each recipient; the first line names the columns: email, name, and variables",
    )
    .option("--email-column <name>", "the column with the addresses", "email")
    .option("--delimiter <character>", "the character between columns", ",");

type Read = {
  /** The words and the settings that a single job has as well. */
  readonly letter: Letter;
  /** What only a mailing has. */
  readonly settings: Letter;
};

/** Builds the letter from the options, and reads its files. Throws WrongUsage. */
export async function readLetter(options: LetterOptions): Promise<Read> {
  const { from, replyTo, name, priority, undoFor, approval, rate, rampUp, window, stopWhen } = options;
  return {
    letter: withoutAbsent({ ...(await readWords(options)), name, from, replyTo, priority }),
    settings: withoutAbsent({
      undoFor: undoFor === undefined ? undefined : toWhole("--undo-for", undoFor, "seconds"),
      approval: approval === true ? "required" : undefined,
      rate: rate === undefined ? undefined : toWhole("--rate", rate, "recipients an hour"),
      rampUp: rampUp === undefined ? undefined : toRampUp(rampUp),
      window: window === undefined ? undefined : toWindow(window),
      stopWhen: stopWhen === undefined ? undefined : toStopWhen(stopWhen),
    }),
  };
}

const withoutAbsent = (fields: Letter): Letter =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

async function readWords({ subject, html, text, template }: LetterOptions): Promise<Letter> {
  const main = html ?? text;
  if (template !== undefined) {
    if (subject !== undefined || main !== undefined) {
      throw new WrongUsage("--template is given beside --subject, --html or --text; expected one of them");
    }
    return { template };
  }
  if (subject === undefined)
    throw new WrongUsage("--subject is missing: expected it with --html or --text, or --template");
  if (main === undefined) throw new WrongUsage("--html or --text is missing: expected a file with the mail");
  const body = await readText(main);
  return html !== undefined && text !== undefined ? { subject, body, text: await readText(text) } : { subject, body };
}

function toWhole(option: string, text: string, what: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new WrongUsage(`${option} is ${JSON.stringify(text)}; expected ${what}`);
  return Number(text);
}

/** `mon-fri 08:00-18:00 Europe/Berlin`, or with days between commas. The service checks times and time zone. */
function toWindow(text: string): Letter {
  const [, asked = "", from, to, timeZone] = /^(\S+) ([\d:]+)-([\d:]+) (\S+)$/.exec(text.trim()) ?? [];
  const names: readonly string[] = weekdays;
  const stretches = asked.split(",").map((some) => {
    const [first = -1, last = first] = some.split("-").map((day) => names.indexOf(day));
    return first === -1 || last === -1 ? [] : names.slice(first, last + 1);
  });
  const isKnown = stretches.every((days) => days.length > 0);
  if (timeZone !== undefined && isKnown) return { days: stretches.flat(), from, to, timeZone };
  throw new WrongUsage(`--window is ${JSON.stringify(text)}; expected it as "mon-fri 08:00-18:00 Europe/Berlin"`);
}

/** `1000x2`. The service checks the bounds. */
function toRampUp(text: string): Letter {
  const [, firstHour, growth] = /^(\d{1,15}) ?x ?(\d+(?:\.\d+)?)$/.exec(text.trim()) ?? [];
  if (firstHour !== undefined) return { firstHour: Number(firstHour), growth: Number(growth) };
  throw new WrongUsage(`--ramp-up is ${JSON.stringify(text)}; expected it as 1000x2`);
}

const shares: Readonly<Record<string, string>> = {
  failures: "failureRate",
  bounces: "bounceRate",
  complaints: "complaintRate",
};

/** `failures 5%, bounces 2% after 500`. The service checks the bounds. */
function toStopWhen(text: string): Letter {
  const [, asked = "", after] = /^(.+?)(?: after (\d{1,15}))?$/.exec(text.trim()) ?? [];
  const read = asked.split(",").map((one) => {
    const [, what = "", percent] = /^(\w+) (\d+(?:\.\d+)?) ?%$/.exec(one.trim()) ?? [];
    return [shares[what], Number((Number(percent) / 100).toFixed(9))] as const;
  });
  if (read.every(([field]) => field !== undefined) && new Set(read.map(([field]) => field)).size === read.length) {
    return { ...Object.fromEntries(read), ...(after === undefined ? {} : { after: Number(after) }) };
  }
  const form = '"failures 5%, bounces 2%, complaints 0.1% after 500"';
  throw new WrongUsage(`--stop-when is ${JSON.stringify(text)}; expected some of ${form}`);
}

/** The text of a file. Throws WrongUsage. */
export const readText = (path: string): Promise<string> => readTextFile(path).catch(refuseFile(path));

const refuseFile =
  (path: string) =>
  (failure: unknown): never => {
    throw new WrongUsage(`${path} cannot be read: ${whyNoFile(failure)}`);
  };

/** The file with the recipients. Throws WrongUsage, also if the file cannot be read. */
export async function readFileOptions({ csv, emailColumn, delimiter }: FileOptions): Promise<RecipientFile> {
  const separator = delimiter === "\\t" ? "\t" : delimiter;
  if (separator.length !== 1) {
    throw new WrongUsage(`--delimiter is ${JSON.stringify(delimiter)}; expected one character, or \\t`);
  }
  await access(csv, constants.R_OK).catch(refuseFile(csv));
  return { path: csv, emailColumn, delimiter: separator };
}

/** The id that a user gives a mailing, from which its idempotency key is made. Throws WrongUsage. */
export function checkId(id: string | undefined): string | undefined {
  if (id === undefined || /^[\x21-\x7e]{1,100}$/.test(id)) return id;
  throw new WrongUsage(`--id is ${JSON.stringify(id)}; expected 1 to 100 visible characters without spaces`);
}

/** The variables of one recipient. Throws WrongUsage. */
export function parsedVariables(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WrongUsage(`--variables is ${JSON.stringify(text)}; expected a JSON object`);
  }
}
