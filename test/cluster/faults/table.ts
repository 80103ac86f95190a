import { type CellEnd, isHeld } from "../../faults/matrix.ts";
import type { Gap } from "./gaps.ts";
import type { ClusterCellResult } from "./run-cell.ts";

const columns = [
  ["fault", 46],
  ["jobs", 5],
  ["mails", 6],
  ["doubled", 7],
  ["no 201 s", 9],
  ["no mail s", 9],
  ["slowest s", 9],
  ["healed s", 8],
  ["verdict", 10],
] as const;

const toRow = (cells: readonly string[], last: string): string =>
  [
    ...columns.map(([, width], index) => {
      const text = cells[index] ?? "–";
      return index === 0 || index === columns.length - 1 ? text.padEnd(width) : text.padStart(width);
    }),
    last,
  ].join("  ");

/** Doubled mails stand before those that may be; times with "!" were longer where too few nodes were there. */
export const clusterHeading = toRow(
  columns.map(([name]) => name),
  "clients were told",
);

export function toClusterLine(end: CellEnd<ClusterCellResult>): string {
  if (end.kind !== "ran") {
    const figures = columns.slice(2).map(() => "–");
    return toRow([end.fault, ...figures, end.kind === "cannot-run" ? "CANNOT RUN" : "FAILED"], "");
  }
  const { result } = end;
  return toRow(
    [
      result.fault,
      String(result.jobs),
      String(result.mails),
      `${result.duplicates}/${result.mayDouble}`,
      toText(result.without201),
      toText(result.withoutMail),
      inSeconds(result.slowestMs),
      inSeconds(result.healedMs),
      isHeld(end) ? "holds" : "FAILED",
    ],
    result.trouble,
  );
}

const inSeconds = (ms: number): string => (ms / 1000).toFixed(1);

/** `23.4→3.4`: all of it, and what counts. */
const toText = ({ ms, countedMs }: Gap): string =>
  ms === countedMs ? inSeconds(ms) : `${inSeconds(ms)}→${inSeconds(countedMs)}`;
