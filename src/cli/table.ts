type Cell = string | number | null | readonly string[];

/** The lines of a table for people: a head, and columns as wide as their widest cell. */
export function toTable<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, Cell>>[],
): readonly string[] {
  const lines = [columns, ...rows.map((row) => columns.map((column) => toText(row[column])))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function toText(cell: Cell): string {
  if (cell === null) return "-";
  return printable(typeof cell === "object" ? cell.join(",") : String(cell));
}

/** Text from others must not control the terminal. */
export const printable = (text: string): string => text.replace(/\p{Cc}/gu, "\u{FFFD}");
