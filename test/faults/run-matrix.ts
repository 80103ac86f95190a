import { randomBytes } from "node:crypto";
import process from "node:process";
import { parseArgs } from "node:util";
import { endRun } from "../support/end-of-run.ts";
import { allFaults, fewAgedJobs } from "./all-faults.ts";
import type { Fault } from "./fault.ts";
import { runCell } from "./run-cell.ts";
import { CannotRunHere } from "./small-disk.ts";
import { openStage, type Stage } from "./stage.ts";
import { type CellEnd, heading, isHeld, toLine } from "./table.ts";

const { values } = parseArgs({
  options: {
    /** Decides when within the mailing each fault strikes, and whom. */
    seed: { type: "string" },
    /** Cells whose name contains this. */
    only: { type: "string" },
    /** In the past of the aged log: each thousand takes a fifth of a second to write, and more to be followed. */
    jobs: { type: "string", default: String(fewAgedJobs) },
  },
});

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function runMatrix(seed: string): Promise<number> {
  const faults = allFaults(Number(values.jobs)).filter(({ name }) => name.includes(values.only ?? ""));
  print(`${faults.length} cells, seed ${seed}; the same again with: npm run test:faults -- --seed ${seed}\n`);
  print(heading);
  const beganAt = performance.now();
  const ends: CellEnd[] = [];
  for (const [index, fault] of faults.entries()) {
    const end = await attempt(fault, seed);
    ends.push(end);
    print(toLine(end));
    const violations = end.kind === "ran" ? end.result.violations : [end.reason];
    for (const violation of violations.slice(0, 10)) print(`    ${violation}`);
    // What a failed cell leaves behind must not be held against the next one.
    if (!isHeld(end) || index === faults.length - 1) await leaveStage();
  }
  const held = ends.filter(isHeld).length;
  const impossible = ends.filter(({ kind }) => kind === "cannot-run").length;
  const minutes = ((performance.now() - beganAt) / 60_000).toFixed(1);
  print(`\n${held} of ${faults.length} cells hold, ${impossible} cannot run here; seed ${seed}, ${minutes} min`);
  return held > 0 && held + impossible === faults.length ? 0 : 1;
}

let stage: Stage | null = null;

async function attempt(fault: Fault, seed: string): Promise<CellEnd> {
  try {
    if (fault.stage !== undefined) return { kind: "ran", result: await runOnOwnStage(fault, seed) };
    stage ??= await openStage();
    return { kind: "ran", result: await runCell(stage, fault, seed) };
  } catch (failure) {
    const reason = failure instanceof Error ? failure.message : String(failure);
    return { kind: failure instanceof CannotRunHere ? "cannot-run" : "broke-off", fault: fault.name, reason };
  }
}

async function runOnOwnStage(fault: Fault, seed: string) {
  const own = await openStage(fault.stage);
  try {
    return await runCell(own, fault, seed);
  } finally {
    await own.close();
  }
}

async function leaveStage(): Promise<void> {
  await stage?.close();
  stage = null;
}

try {
  process.exitCode = await runMatrix(values.seed ?? randomBytes(4).toString("hex"));
} finally {
  await endRun();
}
