import { Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import type { Instant } from "../domain/message.ts";
import type { SuppressionReason } from "../domain/recipients/events.ts";
import { type Checked, type Fault, failed, passed } from "../schemas/fault.ts";
import { columnOf, type Entry, readEntry } from "./list-entry.ts";

export const csvType = "text/csv";
export const ndjsonType = "application/x-ndjson";

/** A large list takes a few calls, and the longest call takes a few seconds of the store's time. */
export const maxEntries = 50_000;

/** The file has more lines than one request may have. */
export class TooManyEntries extends Error {
  override readonly name = "TooManyEntries";
}

export type ListFile = {
  readonly type: typeof csvType | typeof ndjsonType;
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** The reason for lines that name none, and the latest time that a line may name. */
export type Assumed = { readonly reason: SuppressionReason; readonly now: Instant };

/** A line of the file, by the column names that `columnOf` returns. */
type Line = { readonly number: number; readonly fields: Readonly<Record<string, unknown>> | Fault };

const faultsShown = 50;

/**
 * Reads the entries of a suppression list: CSV with column names in the first line, or one JSON object per line. It keeps
 * the entries in memory, but never the file. It finds all faults before anything is stored, and reports the first 50.
 * Throws TooManyEntries, and what the chunks throw.
 */
export async function readListFile({ type, chunks }: ListFile, assumed: Assumed): Promise<Checked<readonly Entry[]>> {
  const entries: Entry[] = [];
  const faults: Fault[] = [];
  const note = (fault: Fault): void => {
    if (faults.length < faultsShown) faults.push(fault);
  };
  let lines = 0;
  try {
    for await (const { number, fields } of type === csvType ? csvLines(textOf(chunks)) : ndjsonLines(textOf(chunks))) {
      lines += 1;
      if (lines > maxEntries) throw new TooManyEntries(`There are more than ${maxEntries} lines.`);
      const entry = isFault(fields) ? failed([fields]) : readEntry(number, fields, assumed);
      if (entry.valid) entries.push(entry.value);
      else for (const fault of entry.faults) note(fault);
    }
  } catch (failure) {
    if (!(failure instanceof NotUtf8)) throw failure;
    return failed([{ pointer: "", message: failure.message }]);
  }
  return faults.length === 0 ? passed(entries) : failed(faults);
}

class NotUtf8 extends Error {
  override readonly name = "NotUtf8";
}

/** Decodes UTF-8 without its byte order mark. Invalid bytes are refused, because a replacement would be another address. */
async function* textOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decode = (chunk?: Uint8Array): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (failure) {
      throw new NotUtf8("The file is not UTF-8.", { cause: failure });
    }
  };
  for await (const chunk of chunks) yield decode(chunk);
  yield decode();
}

const isFault = (fields: Line["fields"]): fields is Fault => "pointer" in fields && "message" in fields;

const faultOfLine = (number: number, sentence: string): Fault => ({
  pointer: `/${number}`,
  message: `line ${number} ${sentence}`,
});

/** A record with its position, as csv-parse returns it. */
type CsvRecord = { readonly record: readonly string[]; readonly info: { readonly lines: number } };

/** RFC 4180. A record that spans several lines has the number of the last one. */
async function* csvLines(text: AsyncIterable<string>): AsyncGenerator<Line> {
  const parser = parse({ info: true, relax_column_count: true, skip_empty_lines: true, max_record_size: 65_536 });
  const source = Readable.from(text);
  // A failing source must end the parser, which a pipe alone would leave waiting.
  source.on("error", (failure) => parser.destroy(failure));
  source.pipe(parser);
  let columns: readonly string[] | null = null;
  try {
    for await (const { record, info } of parser as AsyncIterable<CsvRecord>) {
      if (columns === null) {
        columns = record.map(columnOf);
        if (columns.includes("email")) continue;
        yield {
          number: info.lines,
          fields: faultOfLine(info.lines, "names no column email; expected one, as in email,reason,createdAt"),
        };
        return;
      }
      const names = columns;
      yield {
        number: info.lines,
        fields: Object.fromEntries(record.map((cell, index) => [names[index] ?? "", unarmed(cell.trim())])),
      };
    }
  } catch (failure) {
    if (!(failure instanceof CsvError)) throw failure;
    const number = Number(failure["lines"] ?? 1);
    yield {
      number,
      fields: faultOfLine(number, "is no CSV; expected commas between the columns, and quotes in pairs"),
    };
  } finally {
    source.destroy();
  }
}

/** Exports of Waybill escape cells that a spreadsheet would run as formulas: see src/schemas/csv.ts. */
const unarmed = (cell: string): string => cell.replace(/^'(?=[=+\-@＝＋－＠])/, "");

const longestLine = 65_536;

async function* ndjsonLines(text: AsyncIterable<string>): AsyncGenerator<Line> {
  let number = 0;
  let rest = "";
  const take = function* (lines: readonly string[]): Generator<Line> {
    for (const line of lines) {
      number += 1;
      if (line.trim() !== "") yield { number, fields: fieldsOf(number, line) };
    }
  };
  for await (const some of text) {
    const lines = (rest + some).split("\n");
    rest = lines.pop() ?? "";
    yield* take(lines);
    if (rest.length <= longestLine) continue;
    yield { number: number + 1, fields: faultOfLine(number + 1, `is longer than ${longestLine} characters`) };
    return;
  }
  yield* take([rest]);
}

function fieldsOf(number: number, line: string): Line["fields"] {
  const fault = faultOfLine(number, 'is no object of JSON; expected one, as in {"email": "ada@example.com"}');
  try {
    const parsed: unknown = JSON.parse(line);
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return fault;
    return Object.fromEntries(Object.entries(parsed).map(([name, value]) => [columnOf(name), value]));
  } catch {
    return fault;
  }
}
