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
    /** Cells at a time, each on servers of its own. A busy machine heals later, and may break a bound for that alone. */
    "at-once": { type: "string", default: "1" },
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
  const left = [...faults];
  const lanes = Array.from({ length: Number(values["at-once"]) }, () => runLane(left, seed));
  const ends = (await Promise.all(lanes)).flat();
  const held = ends.filter(isHeld).length;
  const impossible = ends.filter(({ kind }) => kind === "cannot-run").length;
  const minutes = ((performance.now() - beganAt) / 60_000).toFixed(1);
  print(`\n${held} of ${faults.length} cells hold, ${impossible} cannot run here; seed ${seed}, ${minutes} min`);
  return held > 0 && held + impossible === faults.length ? 0 : 1;
}

/** Runs one cell after the other, until none is left. */
async function runLane(left: Fault[], seed: string): Promise<readonly CellEnd[]> {
  const shared = createSharedStage();
  const ends: CellEnd[] = [];
  for (let fault = left.shift(); fault !== undefined; fault = left.shift()) {
    const end = await attempt(fault, seed, shared);
    ends.push(end);
    const violations = end.kind === "ran" ? end.result.violations : [end.reason];
    print([toLine(end), ...violations.slice(0, 10).map((violation) => `    ${violation}`)].join("\n"));
    // What a failed cell leaves behind must not be held against the next one.
    if (!isHeld(end)) await shared.leave();
  }
  await shared.leave();
  return ends;
}

/** For the cells that need no other servers than most. */
function createSharedStage() {
  let stage: Stage | null = null;
  return {
    open: async (): Promise<Stage> => {
      stage ??= await openStage();
      return stage;
    },
    leave: async (): Promise<void> => {
      await stage?.close();
      stage = null;
    },
  };
}

async function attempt(fault: Fault, seed: string, shared: ReturnType<typeof createSharedStage>): Promise<CellEnd> {
  try {
    if (fault.stage !== undefined) return { kind: "ran", result: await runOnOwnStage(fault, seed) };
    return { kind: "ran", result: await runCell(await shared.open(), fault, seed) };
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

try {
  process.exitCode = await runMatrix(values.seed ?? randomBytes(4).toString("hex"));
} finally {
  await endRun();
}
