import { randomBytes } from "node:crypto";
import process from "node:process";
import { parseArgs } from "node:util";
import { mochaGlobalTeardown } from "../support/end-of-run.ts";
import { allFaults } from "./all-faults.ts";
import { type CellResult, runCell } from "./run-cell.ts";
import { openStage, type Stage } from "./stage.ts";
import { heading, toLine } from "./table.ts";

const { values } = parseArgs({
  options: {
    /** Decides when within the mailing each fault strikes, and whom. */
    seed: { type: "string" },
    /** Cells whose name contains this. */
    only: { type: "string" },
  },
});

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function runMatrix(seed: string): Promise<number> {
  const faults = allFaults.filter(({ name }) => name.includes(values.only ?? ""));
  print(`${faults.length} cells, seed ${seed}; the same again with: npm run test:faults -- --seed ${seed}\n`);
  print(heading);
  let failed = 0;
  let stage: Stage | null = null;
  for (const fault of faults) {
    stage ??= await openStage();
    const result = await attempt(() => runCell(stage as Stage, fault, seed), fault.name);
    print(toLine(result));
    if (result.violations.length === 0) continue;
    failed += 1;
    for (const violation of result.violations.slice(0, 10)) print(`    ${violation}`);
    // What a failed cell leaves behind must not be held against the next one.
    await stage.close();
    stage = null;
  }
  await stage?.close();
  print(`\n${faults.length - failed} of ${faults.length} cells hold, seed ${seed}`);
  return failed === 0 && faults.length > 0 ? 0 : 1;
}

async function attempt(run: () => Promise<CellResult>, fault: string): Promise<CellResult> {
  try {
    return await run();
  } catch (failure) {
    const violations = [failure instanceof Error ? failure.message : String(failure)];
    return { fault, jobs: 0, mails: 0, duplicates: 0, mayDouble: 0, secondsToHeal: 0, trouble: "", violations };
  }
}

try {
  process.exitCode = await runMatrix(values.seed ?? randomBytes(4).toString("hex"));
} finally {
  await mochaGlobalTeardown();
}
