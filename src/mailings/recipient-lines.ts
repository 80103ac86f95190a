import type { ContentRecipient } from "../content/content-store.ts";
import { type RecipientColumns, recipientColumns, recipientOfRow } from "../domain/recipients/recipient-table.ts";
import { toRecipient } from "../intake/draft-job.ts";
import type { JobKind } from "../job-kinds/job-kind.ts";
import { shown } from "../schemas/fault.ts";
import { csvRecordsOf, csvType, type LineFile, type LineOf, linesOf, textOf } from "../schemas/line-file.ts";
import { parseJson } from "../schemas/parse-json.ts";
import { isObject, recipientCheck } from "../schemas/request-form.ts";

/** A recipient that a line names, or a sentence about what is wrong with it. `ends` is a file that cannot be read on. */
export type RecipientLine = LineOf<ContentRecipient> & { readonly ends?: true };

/**
 * The recipients of a file, as they come: in NDJSON a recipient a line, as in the request for a job, in CSV with the names
 * of the columns in the first line, where every column but `email` and `name` is a variable. Throws NotUtf8, and what the chunks throw.
 */
export async function* recipientLinesOf({ type, chunks }: LineFile, kind: JobKind): AsyncGenerator<RecipientLine> {
  if (kind.recipients === null) throw new Error(`A ${kind.type} has no recipients.`);
  const { expected } = kind.recipients;
  const faultsOf = recipientCheck(kind.recipients);
  const checked = (number: number, value: Readonly<Record<string, unknown>>): RecipientLine => {
    const [fault] = faultsOf(value, "");
    return fault === undefined ? { number, read: value as ContentRecipient } : { number, fault: fault.message };
  };
  const checkedText = (number: number, text: string): RecipientLine => {
    const [fault] = faultsOf(text, "/email");
    return fault === undefined ? { number, read: toRecipient(text, kind) } : { number, fault: fault.message };
  };
  if (type === csvType) {
    yield* fromCsv(textOf(chunks), checked);
    return;
  }
  for await (const line of linesOf(textOf(chunks))) {
    if ("fault" in line) {
      yield line;
      continue;
    }
    const { number } = line;
    const json = jsonOf(line.read.trim());
    if (!json.parsed) yield { number, fault: json.reason };
    else if (typeof json.value === "string") yield checkedText(number, json.value);
    else if (isObject(json.value)) yield checked(number, json.value);
    else yield { number, fault: `is ${shown(json.value)}; expected ${expected}` };
  }
}

/** A bare text is an address. */
function jsonOf(line: string): ReturnType<typeof parseJson> {
  if (!line.startsWith('"')) return parseJson(Buffer.from(line), "line");
  try {
    return { parsed: true, value: JSON.parse(line) };
  } catch {
    return { parsed: false, reason: "The line is not JSON." };
  }
}

async function* fromCsv(
  text: AsyncIterable<string>,
  checked: (number: number, value: Readonly<Record<string, unknown>>) => RecipientLine,
): AsyncGenerator<RecipientLine> {
  let columns: RecipientColumns | null = null;
  for await (const line of csvRecordsOf(text)) {
    const { number } = line;
    if ("fault" in line) {
      yield { ...line, ends: true };
    } else if (columns === null) {
      columns = recipientColumns(line.read);
      if (columns !== null) continue;
      yield { number, fault: "names no column email; expected one, as in email,name", ends: true };
      return;
    } else {
      yield checked(number, recipientOfRow(columns, line.read));
    }
  }
}
