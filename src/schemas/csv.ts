/** What a field holds. Null is an empty field; an empty text is a pair of quotes. */
export type Cell = string | number | null;

/**
 * A record of RFC 4180: commas between the fields, quotes where a field needs them, CR and LF at the end. Text that a
 * spreadsheet would take for a formula gets an apostrophe before it; numbers are left as they are.
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
 * Subjects, addresses and what mail servers answer come from outside, and `=HYPERLINK(…)` in one of them is run by
 * whoever opens the file (CWE-1236). What begins with one of these signs, after spaces or not, is disarmed as OWASP
 * advises, the wide forms that East Asian keyboards type included. So is what follows a semicolon or a tab: spreadsheets
 * of many countries cut at them, whatever the quotes say. NDJSON has every text as it is.
 */
const harmless = (text: string): string => text.replace(formulas, "$1$2'").replace(breaks, "'$&");

// A tab is a place to cut and no space before a sign: so each character is looked at once.
const formulas = /(^|[;\t])([^\S\t]*)(?=[=+\-@＝＋－＠])/g;
const breaks = /^[\t\r\n]/;
