import process from "node:process";
import { endRun } from "../support/end-of-run.ts";
import { CannotRunHere } from "./small-disk.ts";

/** How a cell went: to its end, or it broke off before, or this machine does not allow what it needs. */
export type CellEnd<Result> =
  | { readonly kind: "ran"; readonly result: Result }
  | { readonly kind: "broke-off" | "cannot-run"; readonly fault: string; readonly reason: string };

type Violations = { readonly violations: readonly string[] };

export const isHeld = (end: CellEnd<Violations>): boolean => end.kind === "ran" && end.result.violations.length === 0;

/** Cells that run one after the other on a stage that they share, and their table. */
export type Matrix<Cell, Stage, Result extends Violations> = {
  /** As it is to be typed again, without the seed. */
  readonly command: string;
  readonly cells: readonly Cell[];
  readonly heading: string;
  readonly toLine: (end: CellEnd<Result>) => string;
  readonly open: () => Promise<Stage>;
  /** `shared` opens the stage that cells share where it is not there yet; a cell may have one of its own instead. */
  readonly run: (cell: Cell, shared: () => Promise<Stage>) => Promise<Result>;
  /** Whether the shared stage is closed before: beside its processes, what this cell measures would be late. */
  readonly isAlone?: (cell: Cell) => boolean;
};

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Runs the cells, so many at a time, ends all that was started for them, and sets the exit code. */
export async function runMatrix<
  Cell extends { readonly name: string },
  Stage extends Closable,
  Result extends Violations,
>(matrix: Matrix<Cell, Stage, Result>, seed: string, atOnce: number): Promise<void> {
  // A dozen processes and their servers would go on without it.
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => void endRun().finally(() => process.exit(1)));
  }
  try {
    process.exitCode = await runCells(matrix, seed, atOnce);
  } finally {
    await endRun();
  }
}

/** Prints the table, and returns the exit code. Each of the cells that run at a time has servers of its own. */
async function runCells<Cell extends { readonly name: string }, Stage extends Closable, Result extends Violations>(
  matrix: Matrix<Cell, Stage, Result>,
  seed: string,
  atOnce: number,
): Promise<number> {
  const { cells, command, heading } = matrix;
  print(`${cells.length} cells, seed ${seed}; the same again with: ${command} --seed ${seed}\n`);
  print(heading);
  const beganAt = performance.now();
  const left = [...cells];
  const ends = (await Promise.all(Array.from({ length: atOnce }, () => runLane(matrix, left)))).flat();
  const held = ends.filter(isHeld).length;
  const impossible = ends.filter(({ kind }) => kind === "cannot-run").length;
  const minutes = ((performance.now() - beganAt) / 60_000).toFixed(1);
  print(`\n${held} of ${cells.length} cells hold, ${impossible} cannot run here; seed ${seed}, ${minutes} min`);
  return held > 0 && held + impossible === cells.length ? 0 : 1;
}

type Closable = { close(): Promise<void> };

/** Runs one cell after the other, until none is left. */
async function runLane<Cell extends { readonly name: string }, Stage extends Closable, Result extends Violations>(
  { open, run, toLine, isAlone = () => false }: Matrix<Cell, Stage, Result>,
  left: Cell[],
): Promise<readonly CellEnd<Result>[]> {
  let stage: Stage | null = null;
  const shared = async (): Promise<Stage> => {
    stage ??= await open();
    return stage;
  };
  const leave = async (): Promise<void> => {
    await stage?.close();
    stage = null;
  };
  const ends: CellEnd<Result>[] = [];
  for (let cell = left.shift(); cell !== undefined; cell = left.shift()) {
    if (isAlone(cell)) await leave();
    const end = await attempt(cell.name, run(cell, shared));
    ends.push(end);
    const violations = end.kind === "ran" ? end.result.violations : [end.reason];
    print([toLine(end), ...violations.slice(0, 10).map((violation) => `    ${violation}`)].join("\n"));
    // What a failed cell leaves behind must not be held against the next one.
    if (!isHeld(end)) await leave();
  }
  await leave();
  return ends;
}

async function attempt<Result>(fault: string, running: Promise<Result>): Promise<CellEnd<Result>> {
  try {
    return { kind: "ran", result: await running };
  } catch (failure) {
    const reason = failure instanceof Error ? failure.message : String(failure);
    return { kind: failure instanceof CannotRunHere ? "cannot-run" : "broke-off", fault, reason };
  }
}
