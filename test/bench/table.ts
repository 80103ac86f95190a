import { type Figure, holds, keepsBound, type Row } from "./row.ts";
import { toText } from "./wording.ts";

const widths = { row: 52, what: 34, target: 9, figure: 9 };

export const heading = [
  "row".padEnd(widths.row),
  "measured".padEnd(widths.what),
  "target".padStart(widths.target),
  "figure".padStart(widths.figure),
  "verdict",
].join("  ");

/** A line for each figure, the first of which names the row; then what it was made of. */
export function toLines(row: Row): readonly string[] {
  return [
    ...row.figures.map((figure, index) => toLine(index === 0 ? row.name : "", figure)),
    ...row.notes.map((note) => `    ${note}`),
  ];
}

export const toFailure = (name: string, reason: string): string => `${name.padEnd(widths.row)}  FAILED: ${reason}`;

export function toSummary(rows: readonly Row[], failed: number): string {
  const held = rows.filter(holds).length;
  return `${held} of ${rows.length + failed} rows meet their targets${failed === 0 ? "" : `, ${failed} could not be measured`}`;
}

function toLine(name: string, figure: Figure): string {
  return [
    name.padEnd(widths.row),
    figure.what.padEnd(widths.what),
    toTarget(figure).padStart(widths.target),
    (figure.value === null ? "unknown" : toText(figure.value)).padStart(widths.figure),
    toVerdict(figure),
  ].join("  ");
}

function toTarget({ atLeast, atMost }: Figure): string {
  if (atLeast !== undefined) return `≥ ${toText(atLeast)}`;
  return atMost === undefined ? "" : `≤ ${toText(atMost)}`;
}

function toVerdict(figure: Figure): string {
  if (toTarget(figure) === "") return "";
  if (figure.value === null) return "not measured";
  return keepsBound(figure) ? "met" : "MISSED";
}
