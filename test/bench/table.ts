import { type Bound, type Figure, holds, keepsTargets, type Row } from "./row.ts";
import { toText } from "./wording.ts";

const widths = { row: 38, what: 36, target: 18, figure: 8 };

export const heading = [
  "row".padEnd(widths.row),
  "measured".padEnd(widths.what),
  "target".padStart(widths.target),
  "cold".padStart(widths.figure),
  "warm".padStart(widths.figure),
  "verdict",
].join("  ");

/** A line for each figure, the first of which names the row; then what it was made of. */
export function toLines(row: Row): readonly string[] {
  return [
    ...row.figures.map((figure, index) => toLine(index === 0 ? row.name : "", figure)),
    ...row.notes.map((note) => `    ${note}`),
  ];
}

export const toReason = (name: string, verdict: "FAILED" | "not measured", reason: string): string =>
  `${name.padEnd(widths.row)}  ${verdict}: ${reason}`;

export function toSummary(rows: readonly Row[], failed: number, notAvailable: number): string {
  const held = rows.filter(holds).length;
  return [
    `${held} of ${rows.length} measured rows meet their targets`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(notAvailable === 0 ? [] : [`${notAvailable} cannot be measured here`]),
  ].join(", ");
}

function toLine(name: string, figure: Figure): string {
  return [
    name.padEnd(widths.row),
    figure.what.padEnd(widths.what),
    toTarget(figure).padStart(widths.target),
    toValue(figure.cold).padStart(widths.figure),
    toValue(figure.warm).padStart(widths.figure),
    toVerdict(figure),
  ].join("  ");
}

const toValue = (value: number | null): string => (value === null ? "–" : toText(value));

/** `≥ 2.00, cold 1.50`: the target of the warm rounds first. */
function toTarget({ targets: { warm, cold } }: Figure): string {
  const bounds = [
    ...(warm === undefined ? [] : [toBound(warm)]),
    ...(cold === undefined ? [] : [`cold ${toBound(cold)}`]),
  ];
  return bounds.join(", ");
}

const toBound = ({ atLeast, atMost }: Bound): string =>
  atLeast === undefined ? `≤ ${toText(atMost ?? 0)}` : `≥ ${toText(atLeast)}`;

function toVerdict(figure: Figure): string {
  const { cold, warm, targets } = figure;
  if (toTarget(figure) === "") return "";
  if (!keepsTargets(figure)) return "MISSED";
  const isUnknown = (targets.cold !== undefined && cold === null) || (targets.warm !== undefined && warm === null);
  return isUnknown ? "not measured" : "met";
}
