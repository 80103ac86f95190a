import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { parse } from "csv-parse";
import {
  plainCell,
  type RecipientColumns,
  recipientColumns,
  recipientOfRow,
  type TableRecipient,
} from "../../domain/recipients/recipient-table.ts";
import { isEmailAddress } from "../../schemas/email-address.ts";
import { textOf } from "../../schemas/line-file.ts";
import { whyNoFile } from "./file-failure.ts";

/** A row of the file. */
export type Recipient = TableRecipient;

export type RecipientFile = { readonly path: string; readonly emailColumn: string; readonly delimiter: string };

/** The file cannot be used as it is; the message names the lines. */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";
}

export type Survey = {
  readonly rows: number;
  /** The first row; an address that occurs in several rows is mailed once. */
  readonly first: Recipient;
  /** The digest of the whole file. */
  readonly sha256: string;
};

const faultsShown = 20;

/** A fault of a row, in words that follow the number of its line. */
export type RowFault = { readonly line: number; readonly message: string };

/** The message about faulty rows. Of these, `faults` are the first. */
export function describeFaults(head: string, count: number, faults: readonly RowFault[]): string {
  const shown = faults.slice(0, faultsShown);
  const lines = shown.map(({ line, message }) => `  line ${line}: ${message}`);
  const more = count > shown.length ? [`  and ${count - shown.length} more`] : [];
  return [head, ...lines, ...more].join("\n");
}

/** Reads the whole file once and reports its faults before anything is sent. Keeps nothing of the rows but the first. */
export async function surveyRecipients(file: RecipientFile): Promise<Survey> {
  const faults: RowFault[] = [];
  let faulty = 0;
  let rows = 0;
  let first: Recipient | null = null;
  const hash = createHash("sha256");
  for await (const { line, recipient } of rowsOf(file, hash)) {
    rows += 1;
    first ??= recipient;
    if (isEmailAddress(recipient.email)) continue;
    faulty += 1;
    const message = `${JSON.stringify(recipient.email)} is not an e-mail address`;
    if (faults.length < faultsShown) faults.push({ line, message });
  }
  if (faulty > 0) {
    const head = `${file.path} has ${faulty} ${faulty === 1 ? "row" : "rows"} without a usable address; nothing was sent:`;
    throw new UnusableFile(describeFaults(head, faulty, faults));
  }
  if (first === null)
    throw new UnusableFile(`${file.path} has no recipients: expected a row for each below the names.`);
  return { rows, first, sha256: hash.digest("hex") };
}

const chunkLength = 65_536;

/**
 * The recipients as NDJSON, each in the line that it has in the file, so that the service names the same lines as an
 * editor. Reads no further ahead than a few chunks. Throws UnusableFile where the file is not the surveyed one any more.
 */
export async function* toNdjson(
  file: RecipientFile,
  sha256: string,
  onRows: (rows: number) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let text = "";
  let rows = 0;
  let lines = 0;
  for await (const { line, recipient } of rowsOf(file, hash)) {
    text += `${"\n".repeat(Math.max(0, line - 1 - lines))}${JSON.stringify(recipient)}\n`;
    lines = Math.max(line, lines + 1);
    rows += 1;
    if (text.length < chunkLength) continue;
    yield Buffer.from(text);
    onRows(rows);
    text = "";
  }
  // Before the last chunk, without which the service adds no more of the file.
  if (hash.digest("hex") !== sha256) {
    throw new UnusableFile(`${file.path} was changed while it was read; nothing was sent. Run the command again.`);
  }
  yield Buffer.from(text);
  onRows(rows);
}

type Row = { readonly line: number; readonly recipient: Recipient };

/** A row as csv-parse reports it, with its line number. */
type ParsedRow = { readonly record: readonly string[]; readonly info: { readonly lines: number } };

/** RFC 4180 in UTF-8, with or without a byte order mark. Feeds the bytes of the file to the hash. */
async function* rowsOf(file: RecipientFile, hash: Hash): AsyncGenerator<Row> {
  const { path, emailColumn, delimiter } = file;
  const parser = parse({ delimiter, skip_empty_lines: true, info: true });
  const source = Readable.from(textOf(hashed(createReadStream(path), hash)));
  // A failing source must end the parser, which a pipe alone would leave waiting.
  source.on("error", (failure) => parser.destroy(failure));
  source.pipe(parser);
  try {
    let columns: RecipientColumns | null = null;
    for await (const { record, info } of parser as AsyncIterable<ParsedRow>) {
      const cells = record.map(plainCell);
      if (columns === null) columns = toColumns(cells, path, emailColumn);
      else yield { line: info.lines, recipient: recipientOfRow(columns, cells) };
    }
  } catch (failure) {
    if (failure instanceof UnusableFile) throw failure;
    throw new UnusableFile(`${path} cannot be read: ${whyNoFile(failure)}`);
  } finally {
    source.destroy();
  }
}

async function* hashed(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** As the service reads the names in the first line, but for the one that the user names. */
function toColumns(names: readonly string[], path: string, emailColumn: string): RecipientColumns {
  const columns = recipientColumns(names, emailColumn);
  if (columns !== null) return columns;
  throw new UnusableFile(
    `${path} has no column ${JSON.stringify(emailColumn)}; its first line names ${names.join(", ")} (see --email-column, --delimiter)`,
  );
}
