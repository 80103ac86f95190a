import { type CellEnd, isHeld } from "./matrix.ts";
import type { CellResult } from "./run-cell.ts";

const widths = { fault: 48, jobs: 5, mails: 6, duplicates: 11, seconds: 8, verdict: 10 };

/** The columns of the matrix: duplicates are those that came, then those that were in flight and so may come. */
export const heading = [
  "fault".padEnd(widths.fault),
  "jobs".padStart(widths.jobs),
  "mails".padStart(widths.mails),
  "doubled".padStart(widths.duplicates),
  "healed s".padStart(widths.seconds),
  "verdict".padEnd(widths.verdict),
  "clients were told",
].join("  ");

export function toLine(end: CellEnd<CellResult>): string {
  if (end.kind !== "ran") {
    const [fault, none] = [end.fault.padEnd(widths.fault), "–"];
    const figures = [none.padStart(widths.jobs), none.padStart(widths.mails), none.padStart(widths.duplicates)];
    const verdict = end.kind === "cannot-run" ? "CANNOT RUN" : "FAILED";
    return [fault, ...figures, none.padStart(widths.seconds), verdict].join("  ");
  }
  const { result } = end;
  return [
    result.fault.padEnd(widths.fault),
    String(result.jobs).padStart(widths.jobs),
    String(result.mails).padStart(widths.mails),
    `${result.duplicates}/${result.mayDouble}`.padStart(widths.duplicates),
    result.secondsToHeal.toFixed(1).padStart(widths.seconds),
    (isHeld(end) ? "holds" : "FAILED").padEnd(widths.verdict),
    [result.trouble, result.struck].filter((text) => text !== "").join("; "),
  ].join("  ");
}
