import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { plainCell } from "../domain/recipients/recipient-table.ts";

export const csvType = "text/csv";
export const ndjsonType = "application/x-ndjson";

/** A file with a line for each thing in it, while it arrives. */
export type LineFile = {
  readonly type: typeof csvType | typeof ndjsonType;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** What stands in the line with this number, counted from 1; `fault` is a sentence about a line that cannot be read. */
export type LineOf<Read> =
  | { readonly number: number; readonly read: Read }
  | { readonly number: number; readonly fault: string };

export class NotUtf8 extends Error {
  override readonly name = "NotUtf8";
  /** Counted from 1. */
  readonly line: number;

  constructor(line: number, cause: unknown) {
    super(`The file is not UTF-8 in line ${line}.`, { cause });
    this.line = line;
  }
}

/** Decodes UTF-8 without its byte order mark. Invalid bytes are refused, because a replacement would be another address. */
export async function* textOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  for await (const chunk of chunks) {
    yield decoded(
      () => decoder.decode(chunk, { stream: true }),
      () => line + linesBeforeFault(chunk),
    );
    line += lineEndsIn(chunk);
  }
  yield decoded(
    () => decoder.decode(),
    () => line,
  );
}

function decoded(decode: () => string, lineOfFault: () => number): string {
  try {
    return decode();
  } catch (failure) {
    throw new NotUtf8(lineOfFault(), failure);
  }
}

const lineEnd = 0x0a;

function lineEndsIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, at + 1)) count += 1;
  return count;
}

/** How many lines end in the bytes before the one that is not UTF-8. */
function linesBeforeFault(bytes: Uint8Array): number {
  // The rest of a character that an earlier chunk has begun.
  let from = Math.max(
    0,
    bytes.findIndex((byte) => byte < 0x80 || byte > 0xbf),
  );
  for (let lines = 0; ; lines += 1) {
    const end = bytes.indexOf(lineEnd, from);
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return lines;
    from = end + 1;
  }
}

/** A record with its position, as csv-parse returns it. */
type CsvRecord = { readonly record: readonly string[]; readonly info: { readonly lines: number } };

/**
 * The records of RFC 4180, without blank ones. A record that spans several lines has the number of the last one. Nothing
 * comes after a fault: where the next record begins cannot be said.
 */
export async function* csvRecordsOf(text: AsyncIterable<string>): AsyncGenerator<LineOf<readonly string[]>> {
  const parser = parse({ info: true, relax_column_count: true, skip_empty_lines: true, max_record_size: longestLine });
  const source = Readable.from(text);
  // A failing source must end the parser, which a pipe alone would leave waiting.
  source.on("error", (failure) => parser.destroy(failure));
  source.pipe(parser);
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      yield { number: info.lines, read: record.map(plainCell) };
    }
  } catch (failure) {
    if (!(failure instanceof CsvError)) throw failure;
    const fault = "is no CSV; expected commas between the columns, and quotes in pairs";
    yield { number: Number(failure["lines"] ?? 1), fault };
  } finally {
    source.destroy();
  }
}

const longestLine = 65_536;
const tooLong = `is longer than ${longestLine} characters`;

/** The lines of a text, without blank ones. */
export async function* linesOf(text: AsyncIterable<string>): AsyncGenerator<LineOf<string>> {
  let number = 0;
  let rest = "";
  let isTooLong = false;
  for await (const some of text) {
    const lines = (rest + some).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      number += 1;
      if (!isTooLong && line.length > longestLine) yield { number, fault: tooLong };
      else if (!isTooLong && line.trim() !== "") yield { number, read: line };
      isTooLong = false;
    }
    if (rest.length <= longestLine) continue;
    if (!isTooLong) yield { number: number + 1, fault: tooLong };
    isTooLong = true;
    rest = "";
  }
  if (!isTooLong && rest.trim() !== "") yield { number: number + 1, read: rest };
}
