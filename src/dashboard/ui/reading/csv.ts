/** RFC 4180, with LF or CRLF; the first line determines the separator. Empty lines are skipped. */
export function readCsv(text: string): readonly (readonly string[])[] {
  const source = text.replace(/^\uFEFF/, "");
  const separator = separatorOf(source);
  const rows: string[][] = [];
  let row: string[] = [];
  let field = "";
  let isQuoted = false;
  const endRow = (): void => {
    row.push(field);
    field = "";
    if (row.length > 1 || row[0]?.trim() !== "") rows.push(row);
    row = [];
  };
  for (let at = 0; at < source.length; at++) {
    const letter = source.charAt(at);
    if (isQuoted) {
      if (letter !== '"') field += letter;
      else if (source.charAt(at + 1) === '"') {
        field += letter;
        at++;
      } else isQuoted = false;
    } else if (letter === '"' && field === "") isQuoted = true;
    else if (letter === separator) {
      row.push(field);
      field = "";
    } else if (letter === "\n") endRow();
    else if (letter !== "\r") field += letter;
  }
  endRow();
  return rows;
}

function separatorOf(source: string): string {
  const [first = ""] = source.split("\n", 1);
  return [",", ";", "\t"].reduce((best, one) => (first.split(one).length > first.split(best).length ? one : best));
}

/** A cell that a spreadsheet would run as a formula becomes text: subjects are foreign input. */
const toCell = (value: string): string => {
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const toCsvLine = (cells: readonly string[]): string => `${cells.map(toCell).join(",")}\r\n`;
