import { createReadStream } from "node:fs";
import { type Parser, parse } from "csv-parse";
import { isEmailAddress } from "../schemas/email-address.ts";
import { whyNoFile } from "./file-failure.ts";

/** A row of the file: its address, and the values of the other columns by their names. */
export type Recipient = { readonly email: string; readonly variables?: Readonly<Record<string, string>> };

export type RecipientFile = { readonly path: string; readonly emailColumn: string; readonly delimiter: string };

/** The file cannot be used as it is; the message names the lines. */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";
}

export type Survey = {
  readonly recipients: number;
  /** Rows that repeat an earlier address: nobody is mailed twice. */
  readonly duplicates: number;
};

const faultsShown = 20;

/** Reads the whole file once and reports its faults before anything is sent. */
export async function surveyRecipients(file: RecipientFile): Promise<Survey> {
  const faults: string[] = [];
  let faultCount = 0;
  const seen = new Set<string>();
  let duplicates = 0;
  for await (const { line, email } of rowsOf(file)) {
    if (!isEmailAddress(email)) {
      faultCount += 1;
      if (faults.length < faultsShown) faults.push(`  line ${line}: ${JSON.stringify(email)} is not an e-mail address`);
      continue;
    }
    const address = email.toLowerCase();
    if (seen.has(address)) duplicates += 1;
    seen.add(address);
  }
  if (faultCount > 0) {
    const more = faultCount > faults.length ? [`  and ${faultCount - faults.length} more`] : [];
    const head = `${file.path} has ${faultCount} ${faultCount === 1 ? "row" : "rows"} without a usable address; nothing was sent:`;
    throw new UnusableFile([head, ...faults, ...more].join("\n"));
  }
  if (seen.size === 0)
    throw new UnusableFile(`${file.path} has no recipients: expected a row for each below the names.`);
  return { recipients: seen.size, duplicates };
}

/** The recipients in the order of the file, each address once, so that the same file always gives the same recipients. */
export async function* distinctRecipients(file: RecipientFile): AsyncGenerator<Recipient> {
  const seen = new Set<string>();
  for await (const { email, variables } of rowsOf(file)) {
    const address = email.toLowerCase();
    if (seen.has(address)) continue;
    seen.add(address);
    yield Object.keys(variables).length === 0 ? { email } : { email, variables };
  }
}

type Row = { readonly line: number; readonly email: string; readonly variables: Readonly<Record<string, string>> };

/** RFC 4180, with or without a byte order mark. */
async function* rowsOf(file: RecipientFile): AsyncGenerator<Row> {
  const { path, emailColumn } = file;
  const rows: AsyncIterable<ParsedRow> = createParser(file);
  try {
    for await (const { record, info } of rows) {
      const { [emailColumn]: email = "", ...variables } = record;
      yield { line: info.lines, email: email.trim(), variables };
    }
  } catch (failure) {
    if (failure instanceof UnusableFile) throw failure;
    throw new UnusableFile(`${path} cannot be read: ${whyNoFile(failure)}`);
  }
}

/** A row as csv-parse reports it, with its line number. */
type ParsedRow = { readonly record: Readonly<Record<string, string>>; readonly info: { readonly lines: number } };

function createParser({ path, emailColumn, delimiter }: RecipientFile): Parser {
  const source = createReadStream(path);
  const parser = parse({
    bom: true,
    delimiter,
    skip_empty_lines: true,
    info: true,
    columns: (header: string[]) => toColumns(header, path, emailColumn),
  });
  source.on("error", (failure) => parser.destroy(failure));
  return source.pipe(parser);
}

/** Finds the column of addresses without regard to case; the other columns keep their names. */
function toColumns(header: readonly string[], path: string, emailColumn: string): string[] {
  const names = header.map((name) => name.trim());
  const index = names.findIndex((name) => name.toLowerCase() === emailColumn.toLowerCase());
  if (index === -1) {
    throw new UnusableFile(
      `${path} has no column ${JSON.stringify(emailColumn)}; its first line names ${names.join(", ")} (see --email-column, --delimiter)`,
    );
  }
  return names.map((name, at) => (at === index ? emailColumn : name));
}
