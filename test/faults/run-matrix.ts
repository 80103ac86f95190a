import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { allFaults, fewAgedJobs } from "./all-faults.ts";
import type { Fault } from "./fault.ts";
import { runMatrix } from "./matrix.ts";
import { runCell } from "./run-cell.ts";
import { openStage, type Stage } from "./stage.ts";
import { heading, toLine } from "./table.ts";

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

const seed = values.seed ?? randomBytes(4).toString("hex");

async function runOnOwnStage(fault: Fault) {
  const own = await openStage(fault.stage);
  try {
    return await runCell(own, fault, seed);
  } finally {
    await own.close();
  }
}

const run = async (fault: Fault, shared: () => Promise<Stage>) =>
  fault.stage === undefined ? await runCell(await shared(), fault, seed) : await runOnOwnStage(fault);

const cells = allFaults(Number(values.jobs)).filter(({ name }) => name.includes(values.only ?? ""));
const matrix = { command: "npm run test:faults --", cells, heading, toLine, open: () => openStage(), run };
const atOnce = Number(values["at-once"]);
if (!Number.isInteger(atOnce) || atOnce < 1) throw new Error(`--at-once is ${values["at-once"]}; expected 1 or more`);
await runMatrix(matrix, seed, atOnce);
