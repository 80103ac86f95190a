import { type Colour, type Paint, printable } from "../process/terminal-line.ts";
import type { CommandContext } from "./command-context.ts";

type Cell = string | number | null | readonly string[];
type Row<Column extends string> = Readonly<Record<Column, Cell>>;

/** The lines of a table for people: a head, and columns as wide as their widest cell. */
export function toTable<Column extends string>(
  columns: readonly Column[],
  rows: readonly Row<Column>[],
  paint: Paint = (_, text) => text,
): readonly string[] {
  const cells = rows.map((row) => columns.map((column) => toText(row[column])));
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((line) => line[index]?.length ?? 0)),
  );
  const toLine = (line: readonly string[], painted: (text: string, index: number) => string): string =>
    line
      .map((text, index) => {
        const isLast = index === line.length - 1;
        return `${painted(text, index)}${isLast ? "" : " ".repeat((widths[index] ?? 0) - text.length)}`;
      })
      .join("  ")
      .trimEnd();
  return [
    toLine(columns, (text) => paint("bold", text)),
    ...cells.map((line) => toLine(line, (text, index) => paintStatus(paint, columns[index] ?? "", text))),
  ];
}

/** Prints a table on standard output. */
export function printTable<Column extends string>(
  { print, paint }: Pick<CommandContext, "print" | "paint">,
  columns: readonly Column[],
  rows: readonly Row<Column>[],
): void {
  for (const line of toTable(columns, rows, paint)) print(line);
}

const coloursOfStatuses: Readonly<Record<string, Colour>> = {
  completed: "green",
  sent: "green",
  success: "green",
  failed: "red",
  bounced: "red",
  complained: "red",
  open: "red",
  retrying: "yellow",
  paused: "yellow",
  deferred: "yellow",
  unknown: "yellow",
  "awaiting-approval": "yellow",
};

/** A status in its colour; any other text as it is. */
export function paintStatus(paint: Paint, column: string, text: string): string {
  const colour = column === "status" ? coloursOfStatuses[text] : undefined;
  return colour === undefined ? text : paint(colour, text);
}

function toText(cell: Cell): string {
  if (cell === null) return "-";
  return printable(typeof cell === "object" ? cell.join(",") : String(cell));
}
