import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runMatrix } from "../../faults/matrix.ts";
import { allClusterFaults } from "./all-faults.ts";
import type { ClusterFault } from "./fault.ts";
import { type ClusterCellResult, runClusterCell } from "./run-cell.ts";
import { type ClusterStage, openClusterStage } from "./stage.ts";
import { clusterHeading, toClusterLine } from "./table.ts";

const { values } = parseArgs({
  options: {
    /** Decides which worker dies, where one is drawn. */
    seed: { type: "string" },
    /** Cells whose name matches this regular expression. */
    only: { type: "string", default: "" },
    /** NATS syncs every message before it acknowledges it. */
    synced: { type: "boolean", default: false },
    /** A folder for what the processes of the service printed in cells that failed. */
    logs: { type: "string" },
  },
});

const seed = values.seed ?? randomBytes(4).toString("hex");

async function run(fault: ClusterFault, shared: () => Promise<ClusterStage>): Promise<ClusterCellResult> {
  const stage = await shared();
  let result: ClusterCellResult | null = null;
  try {
    result = await runClusterCell(stage, fault, seed);
    return result;
  } finally {
    if (result === null || result.violations.length > 0) await keepLogs(stage, fault);
  }
}

async function keepLogs({ processes }: ClusterStage, { name }: ClusterFault): Promise<void> {
  if (values.logs === undefined) return;
  const folder = join(values.logs, name.replaceAll(/[^A-Za-z0-9]+/g, "-"));
  await mkdir(folder, { recursive: true });
  for (const process of processes) await writeFile(join(folder, `${process.name}.log`), process.output());
}

const matrix = {
  command: `npm run test:cluster --${values.synced ? " --synced" : ""}`,
  cells: allClusterFaults.filter(({ name }) => new RegExp(values.only).test(name)),
  heading: clusterHeading,
  toLine: toClusterLine,
  open: () => openClusterStage({ isSynced: values.synced }),
  run,
};
await runMatrix(matrix, seed, 1);
