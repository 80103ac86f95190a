/** The value of a field. Null is an empty field; an empty text is a pair of quotes. */
export type Cell = string | number | null;

/**
 * A record of RFC 4180: commas between the fields, quotes around a field that needs them, CR and LF at the end. Text
 * that a spreadsheet would interpret as a formula gets a leading apostrophe; numbers are left as they are.
 */
export const toCsvRecord = (cells: readonly Cell[]): string => `${cells.map(toField).join(",")}\r\n`;

function toField(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = harmless(cell);
  return text === "" || needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const needsQuotes = /[",\r\n]/;

/**
 * Subjects, addresses and answers of mail servers come from outside, and a spreadsheet that opens the file executes
 * `=HYPERLINK(…)` in one of them (CWE-1236). Text that begins with one of these signs, with or without spaces before
 * it, is escaped as OWASP advises, including the wide forms that East Asian keyboards type. So is text after a
 * semicolon or a tab: spreadsheets of many countries split there, regardless of quotes. NDJSON leaves every text as it
 * is.
 */
const harmless = (text: string): string => text.replace(formulas, "$1$2'").replace(breaks, "'$&");

// A tab is a separator and no space before a sign: so each character is examined once.
const formulas = /(^|[;\t])([^\S\t]*)(?=[=+\-@＝＋－＠])/g;
const breaks = /^[\t\r\n]/;
