import type { CellResult } from "./run-cell.ts";

const widths = { fault: 46, jobs: 5, mails: 6, duplicates: 11, seconds: 8, verdict: 8 };

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

export const toLine = (result: CellResult): string =>
  [
    result.fault.padEnd(widths.fault),
    String(result.jobs).padStart(widths.jobs),
    String(result.mails).padStart(widths.mails),
    `${result.duplicates}/${result.mayDouble}`.padStart(widths.duplicates),
    result.secondsToHeal.toFixed(1).padStart(widths.seconds),
    (result.violations.length === 0 ? "holds" : "FAILED").padEnd(widths.verdict),
    result.trouble,
  ].join("  ");
