import { access, constants, readFile } from "node:fs/promises";
import { basename } from "node:path";
import { whyNoFile } from "../client/file-failure.ts";
import type { RecipientFile } from "../client/read-recipients.ts";
import type { Letter } from "../client/send-mailing.ts";
import { WrongUsage } from "./command-failed.ts";

export type LetterOptions = {
  readonly subject: string;
  readonly html?: string;
  readonly text?: string;
  readonly csv: string;
  readonly from?: string;
  readonly replyTo?: string;
  readonly name?: string;
  readonly priority?: string;
  readonly scheduledAt?: string;
};

export type FileOptions = {
  readonly csv: string;
  readonly emailColumn: string;
  readonly delimiter: string;
  /** The id of the mailing. */
  readonly id?: string;
};

/** Builds the mail from the options, and reads its files. Throws WrongUsage. */
export async function readLetter({
  subject,
  html,
  text,
  csv,
  from,
  replyTo,
  ...options
}: LetterOptions): Promise<Letter> {
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

const readText = (path: string): Promise<string> => readFile(path, "utf8").catch(refuseFile(path));

const refuseFile =
  (path: string) =>
  (failure: unknown): never => {
    throw new WrongUsage(`${path} cannot be read: ${whyNoFile(failure)}`);
  };

/** The file with the recipients. Throws WrongUsage, also if the file cannot be read. */
export async function readFileOptions({ csv, emailColumn, delimiter, id }: FileOptions): Promise<RecipientFile> {
  const separator = delimiter === "\\t" ? "\t" : delimiter;
  if (separator.length !== 1) {
    throw new WrongUsage(`--delimiter is ${JSON.stringify(delimiter)}; expected one character, or \\t`);
  }
  if (id !== undefined && !/^[\x21-\x7e]{1,100}$/.test(id)) {
    throw new WrongUsage(`--id is ${JSON.stringify(id)}; expected 1 to 100 visible characters without spaces`);
  }
  await access(csv, constants.R_OK).catch(refuseFile(csv));
  return { path: csv, emailColumn, delimiter: separator };
}
