import type { Instant } from "../domain/message.ts";
import type { SuppressionReason } from "../domain/recipients/events.ts";
import { type Checked, type Fault, failed, passed } from "../schemas/fault.ts";
import { csvRecordsOf, csvType, type LineFile, linesOf, NotUtf8, textOf } from "../schemas/line-file.ts";
import { columnOf, type Entry, readEntry } from "./list-entry.ts";

/** A large list takes a few calls, and the longest call takes a few seconds of the store's time. */
export const maxEntries = 50_000;

/** The file has more lines than one request may have. */
export class TooManyEntries extends Error {
  override readonly name = "TooManyEntries";
}

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
export async function readListFile({ type, chunks }: LineFile, assumed: Assumed): Promise<Checked<readonly Entry[]>> {
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

const isFault = (fields: Line["fields"]): fields is Fault => "pointer" in fields && "message" in fields;

const faultOfLine = (number: number, sentence: string): Fault => ({
  pointer: `/${number}`,
  message: `line ${number} ${sentence}`,
});

async function* csvLines(text: AsyncIterable<string>): AsyncGenerator<Line> {
  let columns: readonly string[] | null = null;
  for await (const line of csvRecordsOf(text)) {
    const { number } = line;
    if ("fault" in line) {
      yield { number, fields: faultOfLine(number, line.fault) };
    } else if (columns === null) {
      columns = line.read.map(columnOf);
      if (columns.includes("email")) continue;
      const expected = "names no column email; expected one, as in email,reason,createdAt";
      yield { number, fields: faultOfLine(number, expected) };
      return;
    } else {
      const names = columns;
      yield { number, fields: Object.fromEntries(line.read.map((cell, index) => [names[index] ?? "", cell])) };
    }
  }
}

async function* ndjsonLines(text: AsyncIterable<string>): AsyncGenerator<Line> {
  for await (const line of linesOf(text)) {
    const { number } = line;
    yield { number, fields: "fault" in line ? faultOfLine(number, line.fault) : fieldsOf(number, line.read) };
  }
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
